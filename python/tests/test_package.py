"""The installed package on real logs. Run from the root of the project by `.ci/python`."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import json
import os
import pathlib
import pkgutil
import subprocess
import sys
import tempfile
import typing
import unittest
from typing import Any

import accsim

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOG = "tests/data/h200/e3k3_al299.log"
CELL = accsim.Cell("glm5.2", "mtp", 3)


class Golden(unittest.TestCase):
    def test_lengths_are_those_of_the_curves(self) -> None:
        self.assertEqual(accsim.golden_length("dsv41flash", "dspark", 5), 3.51)
        self.assertEqual(accsim.golden_length("dsv4", "mtp", 3, thinking="off"), 2.97)
        self.assertEqual(accsim.golden_length("kimik3", "dspark", 7, draft_sample_method="greedy"), 3.78)
        cell = accsim.golden_cell("glm5.2", "mtp", 3)
        self.assertEqual((cell.curve, cell.max_accept_length, cell.thinking), ("glm5.2_mtp", 4, "thinking_on"))

    def test_every_cell_of_every_curve_can_be_listed(self) -> None:
        curve = next(curve for curve in accsim.curves() if curve.curve == "dsv41flash_dspark")
        self.assertEqual(curve.modes["thinking_off"], [1, 2, 3, 4, 5])

    def test_a_doubtful_cell_comes_with_a_warning(self) -> None:
        (warning,) = accsim.golden_cell("glm5.3", "mtp", 3).warnings
        self.assertEqual(warning.severity, "warning")
        self.assertEqual(accsim.golden_cell("glm5.2", "mtp", 3).warnings, [])

    def test_what_was_not_measured_is_refused_in_words(self) -> None:
        with self.assertRaisesRegex(accsim.AccsimError, r"no golden cell for draft length 6; .* has 1-5"):
            accsim.golden_length("dsv41flash", "dspark", 6)
        with self.assertRaisesRegex(accsim.AccsimError, "no golden curve"):
            accsim.golden_length("--help", "mtp", 3)

    def test_a_folder_replaces_the_curves(self) -> None:
        self.assertEqual(accsim.golden_length("glm5.2", "mtp", 3, golden_dir=ROOT / "golden_al"), 2.99)
        with tempfile.TemporaryDirectory() as empty, self.assertRaises(accsim.AccsimError):
            accsim.golden_length("glm5.2", "mtp", 3, golden_dir=empty)


class Settings(unittest.TestCase):
    def test_each_engine_has_its_own_form(self) -> None:
        self.assertEqual(
            accsim.settings(CELL, "sglang").environment,
            {
                "SGLANG_SIMULATE_ACC_LEN": "2.99",
                "SGLANG_SIMULATE_ACC_METHOD": "match-expected",
                "SGLANG_SIMULATE_ACC_TOKEN_MODE": "real-draft-token",
            },
        )
        self.assertEqual(accsim.settings(CELL, "atom").arguments, ["--spec-decode-acceptance-length", "2.99"])
        vllm = accsim.settings(accsim.Length(3.51, 6), "vllm")
        self.assertEqual(vllm.speculative_config["synthetic_acceptance_length"], 3.51)
        self.assertEqual(vllm.speculative_config["rejection_sample_method"], "synthetic")
        self.assertEqual([one.instead for one in vllm.unset], ["block", None, None])
        self.assertFalse(vllm.target.golden)

    def test_warnings_have_codes(self) -> None:
        told = accsim.settings(accsim.Cell("dsv41flash", "dspark", 5), "sglang", engine_version="0.5.16")
        self.assertIn("dspark-rounds-target", [warning.code for warning in told.warnings])

    def test_a_bad_number_is_refused(self) -> None:
        with self.assertRaises(accsim.AccsimError):
            accsim.settings(accsim.Length(0.5, 6), "sglang")


class Simulate(unittest.TestCase):
    def test_the_law_is_exact_and_the_sample_repeats(self) -> None:
        one = accsim.simulate(accsim.Length(3.51, 6), steps=5000, seed=3)
        self.assertEqual(one, accsim.simulate(accsim.Length(3.51, 6), steps=5000, seed=3))
        assert one.exact and one.sample and one.line
        self.assertEqual(one.exact.pmf, {3.0: 0.49, 4.0: 0.51})
        self.assertEqual(sum(one.sample.histogram.values()), 5000)
        self.assertAlmostEqual(sum(one.line.values.values()), 1.0, places=9)

    def test_rates_stand_for_a_target(self) -> None:
        made = accsim.simulate(rates=[0.8, 0.5, 0.2], replicates=3)
        assert made.exact and made.replicates
        self.assertEqual(made.exact.mean, 2.5)
        self.assertEqual(made.replicates.count, 3)

    def test_an_engine_says_what_it_does(self) -> None:
        made = accsim.simulate(accsim.Cell("dsv41flash", "dspark", 5), engine="sglang", engine_version="0.5.16")
        assert made.engine and made.law
        self.assertEqual(made.law.method, "rounded")
        self.assertEqual((made.engine.name, made.engine.version), ("sglang", "0.5.16"))

    def test_a_server_seed_gives_the_lines_of_its_log(self) -> None:
        seen = accsim.audit(LOG, CELL).points[0]
        assert seen.replay is not None and seen.replay.seed is not None
        lines = accsim.simulate(CELL, random_seed=seen.replay.seed, lines=86).lines
        self.assertEqual(lines, accsim.records(LOG)["accept_len"])


class Audit(unittest.TestCase):
    def test_a_log_is_judged_against_a_cell_a_number_and_itself(self) -> None:
        seen = accsim.audit(LOG, CELL)
        self.assertEqual((seen.verdict, seen.is_consistent), ("consistent", True))
        (point,) = seen.points
        self.assertEqual((point.decode_lines, point.steps), (86, 3440))
        self.assertEqual(point.mechanism.best, "match-expected")
        assert point.replay is not None
        self.assertEqual((point.replay.status, point.replay.lines_exact), ("proved", 86))
        self.assertEqual(accsim.audit(LOG, 2.99).verdict, "consistent")
        wrong = accsim.audit(pathlib.Path(LOG), accsim.Length(2.5))
        self.assertEqual((wrong.verdict, wrong.is_consistent), ("inconsistent", False))
        self.assertIn("other-golden-cell", [finding.code for finding in wrong.points[0].findings])
        self.assertEqual(accsim.audit(LOG, expect_real=True).verdict, "inconsistent")

    def test_several_logs_are_a_table(self) -> None:
        seen = accsim.audit([LOG, "tests/data/h200/e3k5_al351.log"], accsim.Length(3.51, 6))
        self.assertEqual([point.verdict for point in seen.points], ["inconsistent", "consistent"])
        table = seen.columns()
        self.assertEqual(table["verdict"], ["inconsistent", "consistent"])
        self.assertEqual(table["accept_len.mean"][0], seen.points[0].accept_len.mean)
        self.assertEqual(table.height, 2)

    def test_what_cannot_be_read_is_no_result(self) -> None:
        with self.assertRaisesRegex(accsim.UnreadableError, "nowhere.log") as caught:
            accsim.audit([LOG, "nowhere.log"], CELL)
        self.assertEqual([point.verdict for point in caught.exception.audit.points], ["consistent"])
        self.assertFalse(caught.exception.audit.is_consistent)
        with self.assertRaisesRegex(accsim.AccsimError, "no golden cell"):
            accsim.audit(LOG, accsim.Cell("glm5.2", "mtp", 9))
        with self.assertRaises(ValueError):
            accsim.audit([])

    def test_names_that_are_no_text_work(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(os.fsencode(folder), b"--a\xff.log")
            with open(path, "wb") as copy:
                copy.write(pathlib.Path(LOG).read_bytes())
            self.assertEqual(accsim.audit(os.fsdecode(path), CELL).verdict, "consistent")


class Schema(unittest.TestCase):
    """The dataclasses of an audit against the schema of its document, both ways."""

    def test_the_dataclasses_have_the_fields_of_the_schema(self) -> None:
        schema = json.loads((ROOT / "docs/schema/audit.schema.json").read_text())
        self.defs = schema["$defs"]
        self.compared = 0
        self.compare(accsim.Audit, schema)
        self.assertGreater(self.compared, 20)

    def compare(self, kind: Any, schema: dict[str, Any]) -> None:
        fields = {field.name for field in dataclasses.fields(kind)} - {"document"}
        # Only of `--follow`, which Python has no call for.
        named = set(schema["properties"]) - {"sequence"}
        self.assertEqual(fields, named, kind.__name__)
        hints = typing.get_type_hints(kind)
        for field in dataclasses.fields(kind):
            if field.name == "document":
                continue
            inner = self.resolved(schema["properties"][field.name])
            if "items" in inner:
                inner = self.resolved(inner["items"])
            for part in self.dataclasses_in(hints[field.name]):
                self.compare(part, inner)
        self.compared += 1

    def resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        if "oneOf" in schema:
            schema = next(one for one in schema["oneOf"] if one.get("type") != "null")
        if "$ref" in schema:
            return self.resolved(self.defs[schema["$ref"].rsplit("/", 1)[1]])
        return schema

    def dataclasses_in(self, hint: Any) -> list[Any]:
        if dataclasses.is_dataclass(hint):
            return [hint]
        return [found for part in typing.get_args(hint) for found in self.dataclasses_in(part)]


class Records(unittest.TestCase):
    def test_columns_have_one_length_and_their_units_in_their_names(self) -> None:
        table = accsim.records(LOG)
        self.assertEqual({len(column) for column in table.values()}, {86})
        self.assertEqual(table["gen_throughput_tps"][0], 34.68)
        everything = accsim.records(LOG, None)
        self.assertEqual({len(column) for column in everything.values()}, {126})
        self.assertEqual(set(everything["kind"]), {"decode", "prefill", "server_args"})
        self.assertEqual(set(accsim.records(LOG, ["prefill", "server_args"])["kind"]), {"prefill", "server_args"})
        self.assertEqual(accsim.records("README.md"), {})

    def test_rows_that_lack_something_are_filled(self) -> None:
        self.assertEqual(
            accsim.Columns.of([{"a": 1}, {"b": 2}, {"a": 3, "b": 4}]), {"a": [1, None, 3], "b": [None, 2, 4]}
        )

    def test_what_cannot_be_read_is_no_result(self) -> None:
        with self.assertRaisesRegex(accsim.AccsimError, "nowhere.log"):
            accsim.records("nowhere.log")


class Predict(unittest.TestCase):
    def test_a_log_predicts_other_lengths(self) -> None:
        seen = accsim.predict(LOG, [2.0, 2.75], running_req=(1, 16))
        self.assertEqual(
            [(one.accept_length, one.running_req) for one in seen.predictions],
            [(2.0, 1), (2.75, 1), (2.0, 16), (2.75, 16)],
        )
        for one in seen.predictions:
            self.assertLess(one.low, one.gen_throughput_tps)
            self.assertLess(one.gen_throughput_tps, one.high)
        self.assertEqual(seen.baseline.step_law, "fitted")
        self.assertEqual(seen.columns()["basis"], ["ratio"] * 4)

    def test_what_has_no_answer_is_told_beside_what_has(self) -> None:
        seen = accsim.predict("tests/data/h200/dspark_k5_al351.log", 2.0, running_req=(1, 400))
        self.assertEqual([one.running_req for one in seen.predictions], [1])
        self.assertRegex(seen.refused[0], "^400 running requests were not measured")

    def test_what_is_not_told_is_asked_for(self) -> None:
        with self.assertRaisesRegex(accsim.AccsimError, "--draft-length"):
            accsim.predict("tests/data/throughput/h200_k3_k5.json", 2.0)


class Command(unittest.TestCase):
    def test_the_command_is_the_same_program(self) -> None:
        command = os.path.join(os.path.dirname(sys.executable), "accsim")
        for start in ([command], [sys.executable, "-m", "accsim"]):
            done = subprocess.run(
                [*start, "curves", "lookup", "glm5.2", "mtp", "3"], capture_output=True, text=True, check=True
            )
            self.assertEqual((done.stdout, done.stderr), ("2.99\n", ""))
            audited = subprocess.run([*start, "audit", LOG, "--accept-length", "2.5"], capture_output=True, check=False)
            self.assertEqual(audited.returncode, 1)
        done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, f"accsim {accsim.__version__}\n")

    def test_a_closed_pipe_ends_it_quietly(self) -> None:
        command = os.path.join(os.path.dirname(sys.executable), "accsim")
        piped = subprocess.Popen(
            [command, "records", LOG, "--format", "csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert piped.stdout and piped.stderr
        piped.stdout.close()
        self.assertEqual(piped.stderr.read(), b"")
        self.assertEqual(piped.wait(), 0)
        piped.stderr.close()

    def test_every_other_command_can_be_run_within(self) -> None:
        done = accsim.run(["env", "glm5.2", "mtp", "3", "--engine", "trtllm"])
        self.assertEqual(done.stdout, "export TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=1.99\n")
        self.assertEqual((done.exit_code, done.stderr), (0, ""))
        self.assertEqual(accsim.run(["no-such-command"]).exit_code, 2)

    def test_the_version_is_the_librarys(self) -> None:
        lines = (ROOT / "Cargo.toml").read_text().splitlines()
        self.assertIn(f'version = "{accsim.__version__}"', lines)


class Arrays(unittest.TestCase):
    """With numpy, which the package does without."""

    def setUp(self) -> None:
        try:
            importlib.import_module("numpy")
        except ImportError:
            self.skipTest("numpy is not installed")

    def test_columns_become_arrays(self) -> None:
        arrays = accsim.records(LOG, ["decode", "prefill"]).numpy()
        self.assertEqual(str(arrays["line"].dtype), "int64")
        self.assertEqual(str(arrays["accept_len"].dtype), "float64")
        self.assertEqual(int((arrays["accept_len"] == arrays["accept_len"]).sum()), 86)
        self.assertEqual(str(arrays["cuda_graph"].dtype), "bool")
        self.assertEqual(str(arrays["kind"].dtype), "object")

    def test_distributions_and_lines_become_arrays(self) -> None:
        made = accsim.simulate(accsim.Length(3.51, 6), random_seed=7)
        assert made.exact
        values, shares = made.exact.pmf.numpy()
        self.assertAlmostEqual(float((values * shares).sum()), 3.51)
        self.assertEqual(made.lines_numpy().shape, (60,))


class Frames(unittest.TestCase):
    """Tables in pandas and polars, where they are."""

    def test_pandas_takes_them_as_they_are(self) -> None:
        pandas = self.imported("pandas")
        frame = pandas.DataFrame(accsim.records(LOG, None))
        self.assertEqual(frame.shape[0], 126)
        decode = frame[frame["kind"] == "decode"]
        self.assertAlmostEqual(float(decode["accept_len"].mean()), 2.99255813953)
        audits = pandas.DataFrame(accsim.audit(LOG, CELL).columns())
        self.assertEqual(list(audits["verdict"]), ["consistent"])

    def test_polars_takes_them_as_they_are(self) -> None:
        polars = self.imported("polars")
        frame = polars.DataFrame(accsim.records(LOG))
        self.assertEqual(frame.height, 86)
        self.assertAlmostEqual(frame["accept_len"].mean(), 2.99255813953)
        predictions = polars.DataFrame(accsim.predict(LOG, [2.0, 2.75]).columns())
        self.assertEqual(predictions["basis"].to_list(), ["ratio"] * 8)

    def imported(self, name: str) -> Any:
        try:
            return importlib.import_module(name)
        except ImportError:
            self.skipTest(f"{name} is not installed")


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: str | None) -> unittest.TestSuite:
    """The examples of the docstrings and of the pages, too."""
    for module in pkgutil.iter_modules(accsim.__path__, "accsim."):
        if module.name != "accsim.__main__" and not module.name.endswith("._accsim"):
            tests.addTests(doctest.DocTestSuite(importlib.import_module(module.name)))
    tests.addTests(doctest.DocTestSuite(accsim))
    for page in ["README.md", "docs/python.md", "python/README.md"]:
        tests.addTests(doctest.DocFileSuite(str(ROOT / page), module_relative=False))
    return tests


if __name__ == "__main__":
    unittest.main()
