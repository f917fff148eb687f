# SPDX-License-Identifier: Apache-2.0
#
# What driver.py needs of Spark, in one process and without Java: lists in place of tables in a cluster,
# two executors in turn, and every task lost when it has ended and run again by the other executor,
# where the one before may have been killed. The environment says what goes wrong.
import os
import sys
import types

FAULTS = os.environ.get("DISCREET_TEST_FAULTS", "").split("+")
EXECUTORS = [types.ModuleType("_discreet_worker") for _ in range(2)]
WORKER = [""]
attempts = 0


class SparkConf:
    def setAppName(self, _):
        return self

    def set(self, *_):
        return self

    def get(self, _, default=None):
        return default


class SparkFiles:
    @staticmethod
    def getRootDirectory():
        return os.path.dirname(WORKER[0])


class StorageLevel:
    MEMORY_AND_DISK = None


class TaskContext:
    current = None

    def __init__(self, partition):
        self.partition = partition

    @staticmethod
    def get():
        return TaskContext.current

    def partitionId(self):
        return self.partition

    def cpus(self):
        return 1


def run(task, partition):
    """What the task makes, which is thrown away as often as the cluster loses it."""
    global attempts
    failures, attempt, lost = 0, 0, 2 if "retry" in FAULTS else 0
    while True:
        executor = EXECUTORS[(partition + attempt) % 2]
        attempt, attempts = attempt + 1, attempts + 1
        if "kill" in FAULTS and attempts % 13 == 0 and getattr(executor, "process", None):
            executor.process.kill()
            executor.process.wait()
        before = sys.modules.get("_discreet_worker"), TaskContext.current
        sys.modules["_discreet_worker"], TaskContext.current = executor, TaskContext(partition)
        try:
            made = list(task())
        except RuntimeError:  # as Spark does, which tries four times
            failures += 1
            if failures == 4:
                raise
            continue
        finally:
            sys.modules["_discreet_worker"], TaskContext.current = before
        if attempt > lost:
            return made


class RDD:
    def __init__(self, count, compute):
        self.count, self.compute, self.kept, self.keeps = count, compute, {}, False
        self._jrdd = types.SimpleNamespace(count=self.collect)

    def part(self, k):
        if k in self.kept:
            return self.kept[k]
        made = self.compute(k)
        if self.keeps:
            self.kept[k] = run(lambda: made, k)
        return made

    def persist(self, _):
        self.keeps = True
        return self

    def unpersist(self):
        if "forget" in FAULTS:
            self.kept = {}
        return self

    def getNumPartitions(self):
        return self.count

    def mapPartitionsWithIndex(self, f, *_):
        return RDD(self.count, lambda k: run(lambda: f(k, iter(self.part(k))), k))

    def mapPartitions(self, f, *_):
        return self.mapPartitionsWithIndex(lambda _, rows: f(rows))

    def map(self, f):
        return self.mapPartitions(lambda rows: map(f, rows))

    def zip(self, other):
        return RDD(self.count, lambda k: list(zip(self.part(k), other.part(k))))

    def partitionBy(self, count, place):
        shuffled = []

        def compute(k):
            if not shuffled:
                shuffled.extend([] for _ in range(count))
                for part in reversed(range(self.count)):
                    for row in self.part(part):
                        shuffled[place(row[0]) % count].append(row)
            return shuffled[k]

        return RDD(count, compute)

    def collect(self):
        return [row for k in range(self.count) for row in self.part(k)]


class SparkContext:
    defaultParallelism = 4
    version = "stand-in"

    def __init__(self, **_):
        self._jsc = types.SimpleNamespace(hadoopConfiguration=lambda: SparkConf())

    def getConf(self):
        return SparkConf()

    def parallelize(self, rows, count):
        rows = list(rows)
        return RDD(count, lambda k: rows[k * len(rows) // count:(k + 1) * len(rows) // count])

    def statusTracker(self):
        return types.SimpleNamespace(getActiveStageIds=lambda: [], getStageInfo=lambda _: None)

    def stop(self):
        for executor in EXECUTORS:
            if getattr(executor, "process", None):
                executor.process.stdin.close()
                executor.process.wait()
