"""Rows of results bear the digests of their tables, and pages say which tables are others by now."""

import polars as pl
from conftest import script

DIGESTS = script("digests")


def test_a_digest_is_of_the_table_and_of_no_scheme_of_people() -> None:
    assert DIGESTS.digest_of("cubic") == DIGESTS.digest_of("nosuch") == ""
    assert len(DIGESTS.digest_of("known-1x")) == 12
    assert DIGESTS.digest_of("known-1x") != DIGESTS.digest_of("known-10x")


def test_whoever_was_designed_again_is_named() -> None:
    rows = DIGESTS.with_digests(pl.DataFrame({"scheme": ["known-1x", "cubic", "known-10x"]}), "scheme")
    assert DIGESTS.outdated(rows, "scheme") == ""
    earlier = rows.with_columns(digest=pl.Series([rows["digest"][0], None, "0123456789ab"]))
    assert DIGESTS.outdated(earlier, "scheme").endswith("`known-10x`.")
    assert "known-1x" not in DIGESTS.outdated(earlier, "scheme").replace("known-10x", "")
