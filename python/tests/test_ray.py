"""`accsim.ray` on a cluster of three nodes in one machine. Run from the root of the project by `.ci/python`."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from typing import Any

import accsim
import accsim.ray

HAS_RAY = importlib.util.find_spec("ray") is not None
LOG = pathlib.Path("tests/data/h200/e3k3_al299.log").resolve()
MEMORY = 80 << 20

# Stands for accsim on the nodes: notes each call, and does what the test says before it goes on.
PROGRAM = """
import os, pathlib, signal, sys, time
folder, deed, row = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
words = sys.argv[4:]
index, of = map(int, words[words.index("--shard") + 1].split("/"))
has_row = row >= index and (row - index) % of == 0
with open(folder / "calls", "a") as calls:
    calls.write(f"{index}/{of} {has_row}\\n")
if has_row:
    if deed == "kill-worker-once":
        try:
            (folder / "killed").touch(exist_ok=False)
            os.kill(os.getppid(), signal.SIGKILL)
        except FileExistsError:
            pass
    elif deed == "kill-worker":
        os.kill(os.getppid(), signal.SIGKILL)
        sys.exit(0)
    elif deed == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif deed == "hang":
        time.sleep(600)
if deed == "wait":
    # Until a node was lost.
    for _ in range(600):
        if (folder / "go").exists():
            break
        time.sleep(0.1)
os.execv(sys.executable, [sys.executable, "-m", "accsim", *words])
"""


@unittest.skipUnless(HAS_RAY, "Ray is not installed")
class Fleet(unittest.TestCase):
    cluster: Any
    lost_node: Any
    ray: Any

    @classmethod
    def setUpClass(cls) -> None:
        cls.ray = importlib.import_module("ray")
        cluster = importlib.import_module("ray.cluster_utils").Cluster
        head = {"num_cpus": 1, "object_store_memory": MEMORY, "include_dashboard": False}
        cls.cluster = cluster(initialize_head=True, head_node_args=head)
        cls.cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
        cls.lost_node = cls.cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
        cls.ray.init(address=cls.cluster.address, log_to_driver=False, logging_level="ERROR")
        importlib.import_module("ray.data").DataContext.get_current().enable_progress_bars = False

    @classmethod
    def tearDownClass(cls) -> None:
        cls.ray.shutdown()
        cls.cluster.shutdown()

    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.manifest = self.folder / "m.csv"
        rows = ["path,accept_length,max_accept_length,model,method,draft_length,label_team"]
        for number in range(14):
            lines = 9000 if number == 5 else 60
            self._run(
                "simulate", "--accept-length=3.5", "--max-accept-length=6", f"--seed={number}", f"--lines={lines}",
                "--emit-log", os.fspath(self.folder / f"{number}.log"),
            )  # fmt: skip
            # Every third one says what it was not.
            rows.append(f"{number}.log,{3.1 if number % 3 == 2 else 3.5},6,,,,{'red' if number % 2 else ''}")
        subprocess.run(["tar", "czf", "bad.tar.gz", "0.log", "1.log"], cwd=self.folder, check=True)
        packed = (self.folder / "bad.tar.gz").read_bytes()
        (self.folder / "bad.tar.gz").write_bytes(packed[: len(packed) // 2])
        rows += ["none.log,3.5,6,,,,lost", "bad.tar.gz,3.5,6,,,,lost", f"{LOG},,,glm5.2,mtp,3,real", "1.log,x,6,,,,", "0.log,3.5,6,,,,"]
        self.manifest.write_text("\n".join(rows) + "\n")

    def _run(self, *words: str) -> accsim.Completed:
        done = accsim.run(words)
        self.assertIn(done.exit_code, (0, 1, 2, 3), done.stderr)
        return done

    def _alone(self, form: str) -> tuple[int, bytes]:
        """The result of one process."""
        result = self.folder / f"alone.{form}"
        done = self._run("audit", "--manifest", os.fspath(self.manifest), "--format", form, "-o", os.fspath(result))
        return done.exit_code, result.read_bytes()

    def _program(self, deed: str, row: int) -> list[str]:
        script = self.folder / "program.py"
        script.write_text(PROGRAM)
        return [sys.executable, os.fspath(script), os.fspath(self.folder), deed, str(row)]

    def _calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()

    def test_the_cluster_says_what_one_process_says(self) -> None:
        self.assertEqual(sum(node["Alive"] for node in self.ray.nodes()), 3)
        for form in ("csv", "parquet"):
            output = self.folder / f"ray.{form}"
            # A task a row: the parts are merged in more than one step.
            found = accsim.ray.audit_manifest(self.manifest, output=output, format=form, rows_per_task=1)
            self.assertEqual((found.exit_code, found.table), self._alone(form))
            self.assertEqual((output.read_bytes(), found.lost_rows), (found.table, []))
        table = found.messages
        self.assertIn("none.log", table)
        self.assertIn("bad.tar.gz", table)

    def test_a_worker_that_is_killed_changes_nothing(self) -> None:
        found = accsim.ray.audit_manifest(self.manifest, rows_per_task=4, program=self._program("kill-worker-once", 3))
        self.assertTrue((self.folder / "killed").exists())
        self.assertGreaterEqual(sum(call.endswith("True") for call in self._calls()), 2)
        self.assertEqual((found.exit_code, found.table), self._alone("csv"))
        self.assertEqual(found.lost_rows, [])

    def test_a_row_that_kills_what_audits_it_is_reported(self) -> None:
        _, alone = self._alone("csv")
        whole = alone.decode().splitlines()
        for deed, why, timeout in [
            ("die", "ended by signal 9", None),
            ("kill-worker", "the worker that audited it was lost", None),
            ("hang", "took longer than 15 s", 15.0),
        ]:
            (self.folder / "calls").unlink(missing_ok=True)
            found = accsim.ray.audit_manifest(
                self.manifest, rows_per_task=4, program=self._program(deed, 8), timeout_s=timeout
            )
            self.assertEqual(found.lost_rows, [8], deed)
            self.assertEqual(found.exit_code, 2, deed)
            rows = found.table.decode().splitlines()
            self.assertIn(why, rows[8])
            # All others are as they were.
            self.assertEqual([*rows[:8], *rows[9:]], [*whole[:8], *whole[9:]], deed)
            # At most so often: the shard's tries, then the row's own.
            self.assertLessEqual(sum(call.endswith("True") for call in self._calls()), 7, deed)

    def test_a_node_that_is_lost_changes_nothing(self) -> None:
        def lose() -> None:
            # Until each of the three nodes has a task.
            calls = self.folder / "calls"
            for _ in range(600):
                if calls.exists() and len(self._calls()) >= 3:
                    break
                time.sleep(0.1)
            cluster = type(self).cluster
            cluster.remove_node(type(self).lost_node, allow_graceful=False)
            (self.folder / "go").touch()

        thread = threading.Thread(target=lose)
        thread.start()
        found = accsim.ray.audit_manifest(self.manifest, rows_per_task=3, program=self._program("wait", 0))
        thread.join()
        # Another one for the tests to come.
        type(self).lost_node = type(self).cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
        self.assertEqual((found.exit_code, found.table), self._alone("csv"))
        # Seven tasks, and one of them twice.
        self.assertGreaterEqual(len(self._calls()), 8)

    def test_what_cannot_be_used_is_refused_before_any_task(self) -> None:
        with self.assertRaisesRegex(accsim.AccsimError, "cannot read"):
            accsim.ray.audit_manifest(self.folder / "nothing.csv")
        with self.assertRaisesRegex(accsim.AccsimError, "unknown column 'pth'"):
            (self.folder / "wrong.csv").write_text("path,pth\na,b\n")
            accsim.ray.audit_manifest(self.folder / "wrong.csv")
        with self.assertRaisesRegex(accsim.AccsimError, "confidence"):
            accsim.ray.audit_manifest(self.manifest, confidence=7)


@unittest.skipIf(HAS_RAY, "Ray is installed")
class Without(unittest.TestCase):
    def test_who_has_no_ray_is_told_how_to_get_it(self) -> None:
        with self.assertRaisesRegex(ImportError, r"pip install 'accsim\[ray\]'"):
            accsim.ray.audit_manifest("m.csv")


if __name__ == "__main__":
    unittest.main()
