# SPDX-License-Identifier: MIT
"""From a decorated function or class to its syntax tree and enclosing scope."""
import __future__
import sys

from . import _core, _errors

_BUILTINS = {f.__name__: f for f in (len, max, min, abs, sum, round, int, float, bool, list, tuple, range, isinstance,
                                     type)}
_MOST_TREES = 32
_trees = {}  # file name -> (text, tree), of the files that were read last


def _span_in(filename, code, line, column, end_line=None, end_column=None):
    """A span inside the text, also where Python gives none."""
    line = min(max(line or 1, 1), code.count("\n") + 1)
    return _errors.Span(filename, line, max(column or 1, 1), max(end_line or line, line), max(end_column or 1, 1))


def compiled(code, filename):
    """The code object of a text; what Python says against it as a ParserSyntaxError inside the text."""
    lines = code.splitlines(keepends=True)
    hint = None
    try:
        code.encode()
        # annotations are read from the tree: what is wrong with them is told at their place, not by Python
        return compile(code, filename, "exec", __future__.annotations.compiler_flag)
    except SyntaxError as e:
        message, span = e.msg, _span_in(filename, code, e.lineno, e.offset, e.end_lineno, e.end_offset)
        if "integer string conversion" in message:
            message, hint = "an integer literal does not fit into 64 bits", "Constants are at most 9223372036854775807"
    except UnicodeEncodeError as e:
        message = f"the character {code[e.start]!a} is none"
        span = _span_in(filename, code, code.count("\n", 0, e.start) + 1, e.start - code.rfind("\n", 0, e.start))
    except ValueError as e:  # null bytes
        at = code.find("\0")
        message = str(e)
        span = _span_in(filename, code, code.count("\n", 0, at) + 1, at - code.rfind("\n", 0, at))
    except (RecursionError, MemoryError):
        longest = max(range(len(lines)), key=lambda i: len(lines[i]))
        message, hint = "it is nested too deeply", "Assign parts of long expressions to names"
        span = _span_in(filename, code, longest + 1, 1)
    raise _errors.ParserSyntaxError(f"Failed to compile code from {filename}: {message}", span, hint, source_lines=lines)


def _lines_of(filename, module_globals):
    import linecache  # late: most of the time that an import of this package would take
    lines = linecache.getlines(filename, module_globals)
    if not lines and filename == "<string>":
        argv = getattr(sys, "orig_argv", [])
        if "-c" in argv[:-1]:
            lines = argv[argv.index("-c") + 1].splitlines(keepends=True)
            linecache.cache[filename] = (len(lines), None, lines, filename)
    if not lines:
        raise _errors.ParserSyntaxError(
            f"The source text of {filename} cannot be found", hint="Put the program into a file, or use pl.parse(text)")
    return lines


def _tree_of(filename, lines):
    import ast
    text = "".join(lines)
    known = _trees.get(filename)
    if not known or known[0] != text:
        while len(_trees) >= _MOST_TREES:
            del _trees[next(iter(_trees))]
        _trees[filename] = known = (text, ast.parse(text, filename))
    return known[1]


def _nodes(body):
    """All definitions below a list of statements, outermost first."""
    for node in body:
        if type(node).__name__ in ("FunctionDef", "ClassDef"):
            yield node
        for field in ("body", "orelse", "finalbody", "handlers"):
            yield from _nodes(getattr(node, field, ()))


def _first_line(node):
    return node.decorator_list[0].lineno if node.decorator_list else node.lineno


class Source:
    """Text, syntax tree and enclosing scope of one definition."""

    def __init__(self, filename, line, name, kind, module_globals, namespaces):
        self.filename = filename
        self._globals = module_globals
        self._locals = namespaces
        lines = _lines_of(filename, module_globals)
        self.text = lines
        self.lines = None if all(map(str.isascii, lines)) else lines
        found = [n for n in _nodes(_tree_of(filename, lines).body) if n.name == name and type(n).__name__ == kind]
        exact = [n for n in found if _first_line(n) <= line <= n.end_lineno]
        if not found:
            raise _errors.ParserSyntaxError(f"The definition of '{name}' cannot be found in {filename}")
        self.tree = (exact or found)[-1]
        self.prefix = self._find_prefix()

    def parts(self):
        """What the core's parsers take first."""
        return self.tree, self.lines, self.text, self.filename, self.evaluate, self.prefix

    def _find_prefix(self):
        """The name of pypto.language, as the decorator spells it."""
        for decorator in self.tree.decorator_list:
            node = getattr(decorator, "func", decorator)
            value = getattr(node, "value", None)
            if hasattr(value, "id"):
                return value.id
        return "pl"

    def _lookup(self, name):
        for namespace in self._locals:
            if name in namespace:
                return namespace[name]
        if name in self._globals:
            return self._globals[name]
        if name in _BUILTINS:
            return _BUILTINS[name]
        raise NameError(f"name '{name}' is not defined")

    def evaluate(self, node):
        """Value of an expression in the enclosing scope."""
        name = getattr(node, "id", None)
        if name is not None:
            return self._lookup(name)
        if type(node).__name__ == "Constant":
            return node.value
        import ast
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        scope = {n: self._lookup(n) for n in names}
        scope["__builtins__"] = {}
        return eval(compile(ast.Expression(node), self.filename, "eval"), scope)


def _cells(function):
    names = function.__code__.co_freevars
    out = {}
    for name, cell in zip(names, function.__closure__ or ()):
        try:
            out[name] = cell.cell_contents
        except ValueError:  # assigned later in the enclosing function
            pass
    return out


def of_function(function, frame):
    local = frame.f_locals if frame.f_globals is function.__globals__ else {}
    return Source(function.__code__.co_filename, function.__code__.co_firstlineno, function.__name__, "FunctionDef",
                  function.__globals__, [_cells(function), {} if local is function.__globals__ else dict(local)])


def of_class(cls, frame):
    local = {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)
    members = {k: v for k, v in vars(cls).items() if not k.startswith("__")}
    return Source(frame.f_code.co_filename, frame.f_lineno, cls.__name__, "ClassDef", frame.f_globals,
                  [members, local])


def _read(parse, *args):
    try:
        return parse(*args)
    except RecursionError:
        raise _errors.ParserSyntaxError("The program is nested too deeply",
                                        hint="Assign parts of long expressions to names") from None


def parse_function(source, func_type, flags):
    return _read(_core.parse_function, *source.parts(), func_type, flags)


def _is_function(node):
    for decorator in getattr(node, "decorator_list", ()):
        target = getattr(decorator, "func", decorator)
        if getattr(target, "attr", getattr(target, "id", None)) == "function":
            return True
    return False


def parse_program(source, methods):
    found = [(n, methods[n.name].func_type, methods[n.name].flags) for n in source.tree.body
             if n.__class__.__name__ == "FunctionDef" and _is_function(n) and n.name in methods]
    return _read(_core.parse_program, *source.parts(), found)
