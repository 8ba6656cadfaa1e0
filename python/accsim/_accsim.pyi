"""The compiled part: command lines in, exit codes and text out."""

__version__: str

def run(args: list[str]) -> tuple[int, bytes, bytes]:
    """Run one command line: its exit code, its result, and its messages. Other threads run meanwhile."""

def main(args: list[str]) -> int:
    """Run one command line on the streams of the process: its exit code."""
