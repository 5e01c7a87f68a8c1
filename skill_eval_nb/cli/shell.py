"""What the commands share: the app, its consoles, options, errors, and how results are printed."""

from __future__ import annotations

import errno
import inspect
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO, get_origin

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text
from typer.core import TyperGroup

from skill_eval_nb import __version__
from skill_eval_nb.text import count, in_terms, make_visible
from skill_eval_nb.view import Shown, as_plain

if TYPE_CHECKING:
    from rich.segment import Segment

    from skill_eval_nb.running.asking import AskingProgress
    from skill_eval_nb.stats.verdict import Answer
    from skill_eval_nb.tables import Workspace


class InOrder(TyperGroup):
    """The commands in the order of the work, whatever is imported first, each with a whole line."""

    ORDER = (
        *("init", "run", "grade", "judge", "compare", "check", "schema", "convert"),
        *("report", "gate", "library", "tables"),
        *("trigger", "trigger-draft", "trigger-optimise", "lab", "demo", "improve"),
    )

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names; one that has no place in the order comes last."""
        places = {name: place for place, name in enumerate(self.ORDER)}
        return sorted(super().list_commands(ctx), key=lambda name: places.get(name, len(places)))

    def invoke(self, ctx: Any) -> Any:
        """Call a command; a choice that there is not is refused in the words of the choice."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each command does: the first paragraph of its help, whole."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, " ".join((command.help or "").split("\n\n")[0].split()))
                    for name, command in commands
                    if command is not None
                ]
            )


class Terminal(Console):
    """A console on which no text acts, but for its own colours."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """What is written, piece by piece."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=make_visible(segment.text))


class Visible:
    """A stream on which no text acts: what libraries and Python itself write, tracebacks too."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text."""
        return self._stream.write(make_visible(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


app = typer.Typer(
    cls=InOrder,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Terminal(highlight=False, soft_wrap=True)
err = Terminal(highlight=False, soft_wrap=True, stderr=True)

Sandbox = Literal["bubblewrap", "none"]
Dialect = Literal["skill-creator", "skill-evaluator", "iterations", "codingbuddy", "test-cases"]


SHARED = """
    path: A workspace, any folder above it, or a file.
    configuration ([FILE=]NAME): Configuration of results that do not state one: for all files, or
        for one file or folder, as in --configuration a.json=without_skill; repeatable.
    baseline: The configuration to compare with; default: chosen by name.
    out_folder (--out): Folder to write to.
    skill: The skill's folder, or its SKILL.md.
    evals_only (--eval EVAL): Only this eval; repeatable.
    allow_scripts: Run the evals' own scripts, in the sandbox.
    budget_usd: Stop before spending more than this, in US dollars.
    concurrency: Attempts in parallel.
    dry_run: Show what would be done and its price; do nothing.
    evals (--eval EVAL): Only this eval; repeatable.
    executor: offline, messages-api, claude-code, or one you installed.
    force: Replace a file that another program wrote; it is kept as .bak.
    iteration (ITERATION): Only this iteration, such as iteration-2; repeatable.
    keys (--key KEY): Only the draft with this key; repeatable.
    near: How many lines around a match are searched for its except_context.
    others (SKILL): Other skills on offer: bundled, none, or a folder of one or several; repeatable.
    prices: Your own price table in US dollars per million tokens, a JSON file:
        {"date": "2026-06", "models": {"NAME": {"input": 3, "output": 15}}}
    queries: A trigger set: a JSON file of queries and whether each should trigger.
    retry_errored: Repeat runs that errored.
    sandbox: With `none`, commands can do anything you can do on this machine.
    verbose (--verbose -v): Also show what was read, and the name of each file.
    yes (--yes -y): Spend money without a budget, and without asking.
    debug: Show the traceback of an error.
    as_json (--json): Print the result as JSON; everything else goes to stderr.
"""
"""The options of several commands, as a docstring has them."""


def main() -> None:
    """Run the shell; what a terminal cannot show, or would obey, is printed as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    out.file, err.file = sys.stdout, sys.stderr  # their colours are to act
    sys.stdout, sys.stderr = Visible(sys.stdout), Visible(sys.stderr)
    try:
        app()
    except KeyboardInterrupt:  # before or after the command itself
        sys.exit(INTERRUPTED)


@contextmanager
def busy(doing: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being done, and for how long; nothing elsewhere.

    Gives a function that says what is being done now.
    """
    if not err.is_terminal:
        yield lambda _: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn("line"), TextColumn("{task.description}", markup=False))
    with Progress(*columns, TimeElapsedColumn(), console=err, transient=True) as shown:
        task = shown.add_task(doing, total=None)
        yield lambda now: shown.update(task, description=now)


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(f"skill-eval-nb {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Does your agent skill really help? Run, grade, load, check and report skill evaluations."""


settings = SimpleNamespace(as_json=False)
"""What every command takes beside its own options."""
MISTAKE = 70
"""The exit code of a mistake of ours, as sysexits.h has it."""
CODES = (
    "Exit codes: 0 done; 1 a problem with the data, or work left to do; 2 wrong usage, or "
    f"something is missing; {MISTAKE} internal error; 130 interrupted by Ctrl-C."
)


def make_command(command: Callable[..., Any]) -> Callable[..., Any]:
    """Make a command: errors are a line and an exit code, and every one has --json and --debug.

    What a user can do something about ends with 2, a mistake of ours with `MISTAKE`; a traceback
    is shown with --debug alone. What the docstring says under `Options` is their help; in
    brackets stand the name of an option, if it is another, and what stands for its value.
    """

    @wraps(command)
    def run_command(
        *arguments: Any, debug: bool = False, as_json: bool = False, **options: Any
    ) -> Any:
        settings.as_json = as_json
        before = out._file  # noqa: SLF001 - None is the standard output of the moment
        if as_json:
            out.file = sys.stderr
        try:
            return command(*arguments, **options)
        except (BrokenPipeError, typer.BadParameter, typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if debug:
                raise
            line, code = _describe_error(error)
            err.print(Text(line, style="red"))
            raise typer.Exit(code) from None
        finally:
            out._file = before  # noqa: SLF001

    _document_command(run_command, command)
    return run_command


def _document_command(run_command: Callable[..., Any], command: Callable[..., Any]) -> None:
    """Give a command its options, with their help, and its own help."""
    said, _, of_options = inspect.cleandoc(command.__doc__ or "").partition("\n\nOptions:\n")
    helps = _read_helps(SHARED) | _read_helps(of_options)
    ours = inspect.signature(command, eval_str=True)
    flag = {"kind": inspect.Parameter.KEYWORD_ONLY, "default": False, "annotation": bool}
    added = (inspect.Parameter(name, **flag) for name in ("debug", "as_json"))
    every = (*ours.parameters.values(), *added)
    whole = ours.replace(parameters=[_with_help(one, *helps.get(one.name, ())) for one in every])
    vars(run_command)["__signature__"] = whole
    run_command.__annotations__ = {
        name: parameter.annotation for name, parameter in whole.parameters.items()
    }
    run_command.__doc__ = f"{said}\n\n{CODES}"


def _read_helps(text: str) -> dict[str, list[str]]:
    """For each argument, the text in brackets and its help."""
    found = re.findall(r"^    (\w+)(?: \((.*?)\))?: ((?:.|\n {8})+)", text, re.MULTILINE)
    return {name: texts for name, *texts in found}


def _with_help(
    argument: inspect.Parameter, named: str = "", text: str | None = None
) -> inspect.Parameter:
    """An argument of a command with its help: an option if it has a default; a bool is a flag.

    Args:
        argument: the argument.
        named: its option, if that has another name, and what stands for its value.
        text: what the docstring says.
    """
    if get_origin(argument.annotation) is Annotated:
        return argument
    flags = [name for name in named.split() if name.startswith("-")]
    if argument.annotation is bool and not flags:
        flags = [f"--{argument.name.replace('_', '-')}"]
    if text is None and not flags:
        return argument
    text = " ".join((text or "").split())
    if text.partition(" ")[0].isalpha():  # and no list of names
        text = text[:1].upper() + text[1:]
    value = " ".join(name for name in named.split() if name not in flags)
    how: dict[str, Any] = {"help": text, "metavar": value or None}
    is_option = flags or argument.default is not argument.empty
    kind = typer.Option(*flags, **how) if is_option else typer.Argument(**how)
    return argument.replace(annotation=Annotated[argument.annotation, kind])


def _describe_error(error: Exception) -> tuple[str, int]:
    """What an error says to a user, and the exit code."""
    from skill_eval_nb.documents.dialects import NoSuchDocument
    from skill_eval_nb.models import BadPrices, ModelFault
    from skill_eval_nb.running.files import Unwritable
    from skill_eval_nb.running.pool import JobFailed
    from skill_eval_nb.running.protocol import Refused
    from skill_eval_nb.running.steps import CannotRun
    from skill_eval_nb.workspace import NothingToLoad

    plain_faults = NoSuchDocument | NothingToLoad | Refused | BadPrices | ModelFault
    # What failed for another reason was a mistake of ours.
    cause = error.__cause__ if isinstance(error, JobFailed) else error
    if isinstance(cause, OSError | ModuleNotFoundError | CannotRun | Unwritable | plain_faults):
        return in_words(error), 2
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return f"internal error: {what} (run it again with --debug for the traceback)", MISTAKE


def show(value: object, leave: str = "", paths: Iterable[Path] = ()) -> None:
    """Print what a value shows as text, without what is in `leave`, or with --json its fields.

    Of several values the fields stand under `items`. `paths` are of files that were written.
    """
    if not settings.as_json:
        text = use_option_names(repr(value))
        out.print(Text(text.replace(leave, "").rstrip() if leave else text))
        for path in paths:
            out.print(Text(f"wrote {path}"))
        return
    fields = value._data() if isinstance(value, Shown) else as_plain(value)  # noqa: SLF001
    fields = fields if isinstance(fields, dict) else {"items": fields}
    print_fields(fields | ({"paths": [str(path) for path in paths]} if paths else {}))


def print_fields(fields: Mapping[str, Any]) -> None:
    """Print fields as JSON, alone on the standard output."""
    print(json.dumps(fields, ensure_ascii=False))


def without_keys(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """What a command was given, by name, without what the function that it calls does not take.

    >>> without_keys({"runs": 3, "yes": True}, "yes")
    {'runs': 3}
    """
    return {name: value for name, value in given.items() if name not in names}


def tell_progress(progress: str) -> None:
    """Say on a terminal how far it is; nothing elsewhere."""
    if err.is_terminal:
        err.print(Text(progress))


def read_sides(given: list[str] | None) -> dict[str, str] | None:
    """What `--configuration` says, as `load` takes it; what is of no file is of all others.

    >>> read_sides(["without_skill", "a.json=with_skill"])
    {'a.json': 'with_skill', '*': 'without_skill'}
    """
    named = [text.rpartition("=") for text in given or ()]
    if sum(not is_given for _, is_given, _ in named) > 1:
        raise typer.BadParameter("only one --configuration can be for all files: give FILE=NAME")
    named.sort(key=lambda text: not text[1])  # the first name that fits a file counts
    return {file or "*": side for file, _, side in named} or None


def split_pair(text: str, form: str, option: str) -> tuple[str, str]:
    """The two parts of an option's value."""
    a, sign, b = text.partition("=")
    if not sign:
        raise typer.BadParameter(f"`{text}` is not of the form {form}", param_hint=option)
    return a.strip(), b.strip()


def load_visibly(path: Path, configuration: list[str] | None = None) -> Workspace:
    """What is below a path; on a terminal it says that it is being read."""
    from skill_eval_nb.tables import load

    given = read_sides(configuration)
    with busy(f"reading {path}"):
        ws = load(path, configuration=given)
        ws.polars("runs")
    return ws


INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""

OPTIONS = {
    "limits=Limits(usd=…)": "--run-usd",
    "limits.usd": "--run-usd",
    "evals_only": "--eval",
    'sandbox="none"': "--sandbox none",
    "judgings=0": "--judgings 0",
    **{f"`{name}`": f"--{name}" for name in ("looks", "runs", "iteration", "versus", "against")},
    "baseline=": "--baseline ",
    "with `evals`": "with --evals",
    "model is not given": "--model is not given",
    "the price table": "a price table (--prices, or SKILL_EVAL_NB_PRICES)",
    "choose one by ws.select(workspace=…, skill=…)": "name the path of one",
    "plan.start() starts it": "without --dry-run it starts",
    (
        "Set it before Python starts, or in a notebook with `%env ANTHROPIC_API_KEY=…` in a cell "
        "that is not saved; or name another variable with `api_key_name`"
    ): "Set it with `export ANTHROPIC_API_KEY=…`",
    **{
        f"{name}=True": f"--{name.replace('_', '-')}"
        for name in ("allow_scripts", "retry_errored", "force")
    },
    **{
        name: f"--{name.replace('_', '-')}"
        for name in ("executor_model", "judge_model", "merge_model", "budget_usd")
    },
}
"""What a Python user gives, and the option that a user of the shell has for it."""


def use_option_names(text: object) -> str:
    """What the toolkit says of a call, with the options of the shell in place of arguments.

    >>> use_option_names("raise budget_usd, or give allow_scripts=True")
    'raise --budget-usd, or give --allow-scripts'
    """
    return in_terms(text, OPTIONS)


TO_DO = {
    errno.ENOSPC: "free up space there",
    errno.EDQUOT: "free up space there",
    errno.EROFS: "choose a place that can be written to",
    errno.EACCES: "check its permissions, or choose another place",
    errno.EPERM: "check its permissions, or choose another place",
}


def in_words(error: Exception) -> str:
    """What went wrong; of what a disk refuses also where, and what to do about it."""
    if not isinstance(error, OSError) or error.strerror is None:
        return use_option_names(error)
    where = error.filename2 or error.filename  # of two, the one that was to be written
    words = error.strerror if where is None else f"{where}: {error.strerror}"
    to_do = TO_DO.get(error.errno or 0)
    return f"{words}: {to_do}, and run the command again" if to_do else words


# ── problems, written files, diffs, and what money is asked for ────────────────────────────────

SHOWN = 3
"""The most problems of a kind that are printed; the others are only counted."""

_TIMES = re.compile(r"\((\d+) times")

COLOURS = {"error": "red", "warning": "yellow", "info": "dim"}
OF_DIFFS = {"+": "green", "-": "red", "@": "dim"}
"""Colours of the lines of a diff, by their first character."""


def print_diff(diff: str) -> None:
    """Print what would change in a file."""
    for line in diff.splitlines():
        out.print(Text(line, style=OF_DIFFS.get(line[:1], "")))


def print_answers(ws: Workspace, answers: Sequence[tuple[str, Answer]]) -> None:
    """Print two lines a comparison: its verdict or what it leans to, and the next step.

    Where nothing is compared, print why.
    """
    from skill_eval_nb.stats import deltas_by_eval
    from skill_eval_nb.stats.overview import say_how

    if not answers:
        reasons = [why for why in deltas_by_eval(ws)["unpaired"] if why]
        why = reasons[0] if reasons else "no run has a pass rate"
        out.print(Text(f"Nothing to compare: {why}.", style="bold"))
    for title, answer in answers[:SHOWN]:
        out.print(Text(f"{title}{answer.short}", style="bold"))
        for words, command in say_how(ws, answer, named=False)[:1]:
            out.print(Text(f"{words} {command}".rstrip()))
    if len(answers) > SHOWN:
        more = count(len(answers) - SHOWN, "more comparison")
        out.print(f"… and {more}: report.html has them all.")


ANSWERED = (
    *("workspace", "skill", "iteration", "executor_model", "harness", "configuration", "baseline"),
    *("metric", "scope", "verdict", "reason", "estimate", "low", "high", "p"),
    *("lean", "lean_low", "lean_high", "improved", "n_evals", "n_runs", "n_runs_baseline"),
    "next_step",
)
"""Columns of `deltas` that --json has of a comparison, beside the `command` of its next step."""


def list_answers(ws: Workspace, answers: Iterable[tuple[str, Answer]]) -> list[dict[str, Any]]:
    """One row per comparison and scope, as --json prints them, in order."""
    from skill_eval_nb.stats.overview import say_how

    rows = []
    for _, answer in answers:
        steps = zip(answer.next_steps, say_how(ws, answer, named=False), strict=True)
        commands = {row["scope"]: command or None for (_, row), (_, command) in steps}
        for row, *_ in answer.claims:
            command = {"command": commands.get(row["scope"])}
            rows.append({name: row[name] for name in ANSWERED} | command)
    return rows


def print_written(written: Iterable[Path]) -> None:
    """Print what a conversion could not hold, and the files that were written."""
    print_losses(written)
    for file in written:
        out.print(Text(f"wrote {file}"))


def print_losses(written: Iterable[Path], console: Terminal = out) -> None:
    """Print what a conversion could not hold."""
    for loss in counted_lines(getattr(written, "losses", ())):
        console.print(Text(f"not kept: {loss.removeprefix('left out: ')}", style="yellow"))


def counted_lines(lines: Iterable[str]) -> list[str]:
    """Lines of which those that differ in their place alone stand once, with their number.

    >>> counted_lines(["$.runs[0]: left out", "$.runs[1]: left out", "$.notes: left out"])
    ['$.runs[0]: left out (and 1 more like it)', '$.notes: left out']
    """
    alike: dict[str, list[str]] = {}
    for line in lines:
        place, colon, what = line.partition(": ")
        kind = re.sub(r"\[[^]]*\]|\d+", "", place) if place.startswith("$") else ""
        alike.setdefault(f"{kind}{colon}{what}", []).append(line)
    more = "{} (and {} more like it)"
    return [
        first if not others else more.format(first, len(others))
        for first, *others in alike.values()
    ]


def _one_line(text: str) -> str:
    """A text whose ends of lines look like no line of ours."""
    return text.replace("\n", "\\n")


def print_problems(
    problems: Iterable[Any], *, weighed: bool = False, console: Terminal = out
) -> None:
    """Print problems by kind, the worst first, and how many there are of each severity.

    Args:
        problems: what to print.
        weighed: whether a line that stands for several problems counts as that many.
        console: where to.
    """
    order = list(COLOURS)
    ordered = sorted(problems, key=lambda problem: order.index(problem.severity))
    kinds: dict[tuple[Any, ...], list[Any]] = {}
    for problem in ordered:
        own = problem if weighed else None
        kinds.setdefault((problem.severity, problem.code, own), []).append(problem)
    for (severity, code, _), same in kinds.items():
        for problem in same[:SHOWN]:
            line = Text().append(severity, style=COLOURS[severity])
            line.append(f" {_one_line(problem.path)}")
            if problem.where:
                line.append(f" {_one_line(problem.where)}", style="bold")
            console.print(line.append(f": {_one_line(problem.message)} [{code}]"))
        if len(same) > SHOWN:
            line = Text().append(severity, style=COLOURS[severity])
            more = f" … and {len(same) - SHOWN} more of this kind; --json lists all [{code}]"
            console.print(line.append(more))
    counts: Counter[str] = Counter()
    for problem in ordered:
        times = _TIMES.search(problem.message) if weighed else None
        counts[problem.severity] += int(times[1]) if times else 1
    ends = {severity: "" if counts[severity] == 1 else "s" for severity in order}
    words = [f"{counts[severity]} {severity}{ends[severity]}" for severity in ("error", "warning")]
    console.print(", ".join([*words, f"{counts['info']} info"]))


def ask_first(
    budget_usd: float | None, yes: bool, worst_usd: float | None = None, *, keyed: bool = True
) -> None:
    """Go on if nothing can be spent, a ceiling is given, or the user says so.

    Args:
        budget_usd: the ceiling.
        yes: whether the user said so beforehand.
        worst_usd: what it may cost at most; None if that is not known.
        keyed: whether it takes the key of the API.

    Raises:
        Refused: money may be spent, and there is no key to spend it with.
    """
    from skill_eval_nb.models import Connection
    from skill_eval_nb.running.protocol import refuse

    if worst_usd == 0:
        return
    if keyed and (why := Connection().why_not()):
        raise refuse(why)
    if budget_usd is not None or yes:
        return
    most = "" if worst_usd is None else f", ${worst_usd:.2f} at most,"
    try:
        agreed = typer.confirm(f"This costs money{most} and has no --budget-usd. Continue?")
    except typer.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise typer.Exit(INTERRUPTED) from None
        raise
    if not agreed:
        raise typer.Exit(2)


def price_first(
    ask: Callable[..., Any], budget_usd: float | None, *, dry_run: bool, yes: bool
) -> None:
    """Price what models are to answer, and unless that is all, ask them.

    Raises:
        Exit: they were asked; with 1 where something is missing.
    """
    planned = ask(dry_run=True)
    if dry_run:
        show(planned)
        return
    ask_first(budget_usd, yes, planned.worst_usd if planned.n_missing else 0)
    found = ask(progress=tell_spent)
    show(found)
    raise typer.Exit(0 if found.status == "done" else 1)


def tell_spent(progress: AskingProgress) -> None:
    """Say on a terminal how far asking is, and what it has cost."""
    from skill_eval_nb.text import dollars

    line = f"{progress.done} of {progress.total}, {dollars(progress.spent_usd)}"
    tell_progress(f"{line}: {progress.what}")
