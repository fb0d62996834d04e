# SPDX-License-Identifier: MIT
"""Mistakes in a program, with their places (spec pypto.md section 3.10)."""
import os
import re
import sys

__all__ = ["Span", "ParserError", "ParserSyntaxError", "ParserTypeError", "UndefinedVariableError", "SSAViolationError",
           "ScopeIsolationError", "UnsupportedFeatureError", "InvalidOperationError", "CompileError"]


class Span:
    """A place in a source file: lines and columns count from 1; line 0 means unknown."""

    __slots__ = ("filename", "line", "column", "end_line", "end_column")

    def __init__(self, filename: str = "", line: int = 0, column: int = 0, end_line: int = 0, end_column: int = 0):
        self.filename, self.line, self.column = filename, line, column
        self.end_line, self.end_column = end_line, end_column

    def __repr__(self):
        return f"{self.filename}:{self.line}:{self.column}"

    def __eq__(self, other):
        return isinstance(other, Span) and all(getattr(self, n) == getattr(other, n) for n in self.__slots__)

    __hash__ = None


class ParserError(Exception):
    """The first mistake of a program; all of them are in `errors`, in source order."""

    code = "E000"

    def __init__(self, message: str, span: "Span | None" = None, hint: "str | None" = None, note: "str | None" = None,
                 source_lines: "list[str] | None" = None, previous_span: "Span | None" = None):
        super().__init__(message)
        self.message = message
        self.span = span or Span()
        self.hint = hint
        self.note = note
        self.source_lines = source_lines
        self.previous_span = previous_span
        self.errors = [self]

    def __str__(self):
        return "\n\n".join(render(e) for e in self.errors)


class ParserSyntaxError(ParserError, SyntaxError):
    """What is no Python, or has not the form that the language wants."""

    code = "E001"

    def __str__(self):
        return ParserError.__str__(self)


class ParserTypeError(ParserError, TypeError):
    """A type that does not fit: of an argument, a shape, a direction, a result."""

    code = "E101"


class UndefinedVariableError(ParserError, NameError):
    """A name that is not defined, or not on every way there."""

    code = "E200"


class SSAViolationError(ParserError):
    """A name that is assigned twice under strict_ssa=True."""

    code = "E201"


class ScopeIsolationError(ParserError):
    """A name that is used behind the loop or branch that defines it, under strict_ssa=True."""

    code = "E202"


class InvalidOperationError(ParserError, ValueError):
    """An operator's own rules: shapes, element types, memories, pipes."""

    code = "E300"


class UnsupportedFeatureError(ParserError):
    """Python that the language does not have."""

    code = "E301"


class CompileError(ParserError, ValueError):
    """A valid program that cannot be made for a chip."""

    code = "E400"


class CompileWarning(UserWarning):
    """What a program can do without being wrong, and most likely should not."""


def _use_colour():
    if os.environ.get("FORCE_COLOR"):
        return True
    if "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb":
        return False
    return sys.stderr is not None and sys.stderr.isatty()


def _source_lines(error, filename):
    if error.source_lines is not None:
        return error.source_lines
    import linecache
    return linecache.getlines(filename)


def _excerpt(lines, span, message, paint):
    if not span.line or span.line > len(lines):
        return []
    width = len(str(min(span.line + 2, len(lines))))
    out = []
    for number in range(max(1, span.line - 2), min(span.line + 2, len(lines)) + 1):
        text = lines[number - 1].rstrip("\n")
        out.append(f"{number:>{width}} | {text}")
        if number != span.line:
            continue
        end = span.end_column if span.end_line == span.line else len(text) + 1
        start = max(span.column, 1)
        carets = "^" * max(end - start, 1)
        short = re.split(r"\.(?:\s|$)", message)[0]  # its first sentence; a period inside a name ends none
        tail = f" {short}" if len(short) < 50 else ""
        indent = "".join("\t" if c == "\t" else " " for c in text[:start - 1])
        out.append(f"{'':>{width}} | {indent}" + paint("31;1", carets + tail))
    return out


def render(error):
    """The mistake with its place, lines of the source around it, and advice."""
    colour = _use_colour()

    def paint(code, text):
        return f"\x1b[{code}m{text}\x1b[0m" if colour else text

    span = error.span
    out = [paint("31;1", "Error") + f": {error.message}"]
    if span.line:
        out.append(f"  --> {span.filename}:{span.line}:{span.column}")
        out += _excerpt(_source_lines(error, span.filename), span, error.message, paint)
    if error.previous_span and error.previous_span.line:
        out.append("note: Previous definition was here:")
        out += _excerpt(_source_lines(error, error.previous_span.filename), error.previous_span, "", paint)
    if error.hint:
        out.append(f"   = help: {error.hint}")
    if error.note:
        out.append(f"   = note: {error.note}")
    return "\n".join(out)


def _from_tuple(item):
    name, code, message, hint, note, span, previous, lines = item
    if not lines and span[0]:
        import linecache
        lines = linecache.getlines(span[0]) or None
    error = globals()[name](message, Span(*span), hint, note, lines, Span(*previous) if previous[1] else None)
    error.code = code
    return error


def raise_for(diags):
    """Raise the first of the core's mistakes (in source order), with all of them in `errors`."""
    import warnings
    for item in diags:
        if item[0] == "CompileWarning":
            warnings.warn_explicit(item[2], CompileWarning, item[5][0] or "<program>", item[5][1])
    # what is computed in several steps may be refused at more than one of them
    errors = [_from_tuple(item) for item in {item[:-1]: item for item in diags}.values() if item[0] != "CompileWarning"]
    errors.sort(key=lambda e: (e.span.line, e.span.column))
    if errors:
        errors[0].errors = errors
        raise errors[0]
