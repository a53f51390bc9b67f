"""The program that the third course trains on, put together from its parts. Run it to see it.

Every figure of "Training on Python Code" hangs on its 562 characters, the newline at either end among them.
"""

from __future__ import annotations


def recursive_function(name: str, described: str, stop: str, step: str) -> str:
    """A function of n that calls itself."""
    body = f"    if n <= 1:\n        return {stop}\n    return {step}\n"
    return f'def {name}(n):\n    """Calculate {described}."""\n{body}'


def method(name: str, statement: str, *, arguments: str = "self, x", answer: bool = True) -> str:
    """A method that changes `self`, and gives it back so that calls can be chained."""
    return f"    def {name}({arguments}):\n        {statement}\n" + "        return self\n" * answer


def program() -> str:
    """Two functions, a class and a main part, with a blank line between."""
    functions = [
        recursive_function(
            "fibonacci", "the nth Fibonacci number", "n", "fibonacci(n - 1) + fibonacci(n - 2)"
        ),
        recursive_function("factorial", "n factorial", "1", "n * factorial(n - 1)"),
    ]
    methods = [
        method("__init__", "self.result = 0", arguments="self", answer=False),
        method("add", "self.result += x"),
        method("subtract", "self.result -= x"),
    ]
    calls = "".join(f"    print({call})\n" for call in ("fibonacci(10)", "factorial(5)"))
    main = f'# Main execution\nif __name__ == "__main__":\n{calls}'
    return "\n" + "\n".join([*functions, "class Calculator:\n" + "\n".join(methods), main])


PROGRAM = program()

if __name__ == "__main__":
    print(f"{len(PROGRAM)} characters of Python")
    print(PROGRAM)
