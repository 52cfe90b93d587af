"""TOML and JSON of the three file kinds, and the one error line."""

from theory.errors import InputError, TooLargeError
from theory.files.document import Fields, read_document, refuse_shared, refuse_unwritable, write_json, write_text
from theory.files.instances import instance_document, parse_instance, read_instance, write_instance

__all__ = [
    "Fields",
    "InputError",
    "TooLargeError",
    "instance_document",
    "parse_instance",
    "read_document",
    "read_instance",
    "refuse_shared",
    "refuse_unwritable",
    "write_instance",
    "write_json",
    "write_text",
]
