"""Where evaluation files lie: finding, reading and safe writing; what could not be used."""

from .crawl import Folder, crawl
from .layout import FilePlace, Layout, RunPlace, lay_out
from .names import NO_ITERATION, UNSTATED, natural
from .places import Place
from .problems import Problem, Problems
from .write import write_atomic
