"""What is on disk: files of people and of ours, locks, digests, runs that are kept, and what comes with the program."""

from exmachina.files.disk import MOST_BYTES, check_output, make_folder, read_file, write_atomically
from exmachina.files.locks import alone, open_locked
from exmachina.files.nearest import or_nearest, unknown
from exmachina.files.parquet import read_parquet, write_parquet
from exmachina.files.runs import FinishedRuns, digest, program, simulated
from exmachina.files.shipped import ALGORITHMS, LIMITS, MODELS, SCENARIOS, Kind, find, is_table_file, shipped_files

__all__ = [
    "ALGORITHMS",
    "LIMITS",
    "MODELS",
    "MOST_BYTES",
    "SCENARIOS",
    "FinishedRuns",
    "Kind",
    "alone",
    "check_output",
    "digest",
    "find",
    "is_table_file",
    "make_folder",
    "open_locked",
    "or_nearest",
    "program",
    "read_file",
    "read_parquet",
    "shipped_files",
    "simulated",
    "unknown",
    "write_atomically",
    "write_parquet",
]
