# SPDX-License-Identifier: MIT
"""The command pyptoc: compile a program from a file (pyptoc(1))."""
import argparse
import sys


def _arguments(argv):
    parser = argparse.ArgumentParser(prog="pyptoc", description="Compile a PyPTO program.")
    parser.add_argument("file", metavar="FILE.py")
    parser.add_argument("-o", dest="output", metavar="DIR", help="where the files go; default build_output/NAME_TIME")
    parser.add_argument("--backend", choices=("pto", "cce"), default="pto")
    parser.add_argument("--platform", choices=("a2a3", "a5", "a2a3sim", "a5sim"), default="a2a3")
    parser.add_argument("--dump-passes", action="store_true", help="write the program after each pass")
    parser.add_argument("--print-ir", action="store_true", help="print the program after all passes and stop")
    parser.add_argument("--skip-ptoas", action="store_true", help="stop at .pto text")
    return parser.parse_args(argv)


def _compile(options):
    from . import _compile, ir, language, passes
    program = language.loads(options.file)
    if program.node_kind != "Program":
        raise ValueError(f"{options.file} defines a function, not a @pl.program class")
    if options.print_ir:
        manager = passes.PassManager.get_strategy("PTOAS" if options.backend == "pto" else "Default", options.platform)
        print(ir.python_print(manager.run_passes(program)), end="")
        return
    print(_compile.compile_program(program, options.output, dump_passes=options.dump_passes,
                                   backend_type=options.backend.upper(), skip_ptoas=options.skip_ptoas,
                                   platform=options.platform))


def main(argv=None):
    """Exit status: 0, or 1 with what is wrong on standard error."""
    options = _arguments(argv)
    try:
        _compile(options)
    except (OSError, RuntimeError, ValueError, TypeError, NameError, SyntaxError) as e:
        place = f"pyptoc: {e}" if not hasattr(e, "errors") else str(e)
        print(place, file=sys.stderr)
        return 1
    except SystemExit as e:
        print(f"pyptoc: {options.file} ended itself, sys.exit({e.code!r}), before there was a program", file=sys.stderr)
        return 1
    except Exception as e:  # a ParserError of another class
        if not hasattr(e, "errors"):
            raise
        print(e, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
