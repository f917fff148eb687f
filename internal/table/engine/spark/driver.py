# SPDX-License-Identifier: Apache-2.0
#
# The session of Spark that discreet asks: it reads messages from a socket, runs one job for each
# question, and sends back answers, which are sums over rows. It collects no row and knows no price.
import io
import json
import os
import platform
import socket
import struct
import subprocess
import sys
import threading
import types

from pyspark import SparkFiles, StorageLevel, TaskContext
from pyspark.sql import SparkSession

# Around what may be shown of a failure. Written in parts, so that a line of this file that a
# traceback quotes holds neither.
SHOWN, END = "DISCREET" "<", ">" "DISCREET"


def send(stream, header, *parts):
    header = dict(header, parts=len(parts))
    for part in (json.dumps(header).encode(), *parts):
        stream.write(struct.pack(">Q", len(part)))
        stream.write(part)
    stream.flush()


def receive(stream):
    def part():
        size = stream.read(8)
        if len(size) < 8:
            raise EOFError()
        size = struct.unpack(">Q", size)[0]
        data = stream.read(size)
        if len(data) < size:
            raise EOFError()
        return data

    header = json.loads(part())
    return header, [part() for _ in range(header.get("parts", 0))]


def call(config, header, *parts):
    """Asks this process's worker, which one Python process of Spark keeps from task to task. It
    answers once or, about a file, with its blocks and an answer without data."""
    kept = sys.modules.setdefault("_discreet_worker", types.ModuleType("_discreet_worker"))
    process = getattr(kept, "process", None)
    if process is None or kept.session != config["session"] or process.poll() is not None:
        process = kept.process = begin(config)
        kept.session = config["session"]
    last = False
    try:
        send(process.stdin, header, *parts)
        while not last:
            answer, data = receive(process.stdout)
            last = not data or header["op"] != "file"
            yield check(answer), data
    except (EOFError, OSError):
        raise RuntimeError(SHOWN + "the worker ended" + END)
    finally:
        if not last:
            kept.process = None
            process.kill()


def begin(config):
    """A worker that knows the schema."""
    program = os.path.join(SparkFiles.getRootDirectory(), config["worker"])
    process = subprocess.Popen([program, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    send(process.stdin, {"op": "begin", "program": config["program"]}, config["schema"].encode())
    check(receive(process.stdout)[0])
    return process


def check(answer):
    if answer.get("error"):
        raise RuntimeError(SHOWN + answer["error"] + END)
    return answer


def coder(config):
    def code(batches):
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise RuntimeError(SHOWN + "executors must have the Python package pyarrow" + END)

        part, held, rows, number = TaskContext.get().partitionId(), [], 0, 0

        def block():
            file = io.BytesIO()
            pyarrow.parquet.write_table(pyarrow.Table.from_batches(held), file, compression="NONE")
            name = "%d-%d" % (part, number)
            answer, data = next(call(config, {"op": "code", "name": name}, file.getbuffer()))
            return pyarrow.RecordBatch.from_pydict(
                {"block": [name], "rows": [answer["rows"]], "id": [answer["id"]], "data": [data[0]]})

        # Where blocks end does not depend on the batches that rows come in.
        for batch in batches:
            while batch.num_rows:
                part_of = batch.slice(0, config["rows"] - rows)
                batch = batch.slice(part_of.num_rows)
                held.append(part_of)
                rows += part_of.num_rows
                if rows == config["rows"]:
                    yield block()
                    held, rows, number = [], 0, number + 1
        if rows:
            yield block()

    return code


def file_coder(config):
    def code(batches):
        import pyarrow

        part, number = TaskContext.get().partitionId(), 0
        for batch in batches:
            for path, content in zip(batch.column(0), batch.column(1)):
                header = {"op": "file", "name": os.path.basename(path.as_py()), "rows": config["rows"]}
                for answer, data in call(config, header, content.as_buffer()):
                    if data:
                        yield pyarrow.RecordBatch.from_pydict({"block": ["%d-%d" % (part, number)],
                            "rows": [answer["rows"]], "id": [answer["id"]], "data": [data[0]]})
                        number += 1

    return code


# Files up to this many bytes go whole to the worker, which reads them itself: much less work than
# rows that pass through Spark.
WHOLE_FILE = 128 << 20


def whole_files(spark, data, rows):
    """The contents of the Parquet files that rows come from; None where they are too long, or where
    names may hold columns or mean several files."""
    paths = rows.inputFiles()
    if data[0].startswith(("table:", "query:")) or not paths or set("".join(paths)) & set("=*?[]{}"):
        return None
    files = spark.read.format("binaryFile").load(paths)
    if any(row[0] > WHOLE_FILE for row in files.select("length").collect()):
        return None
    return files.select("path", "content")


def asker(config, question):
    def ask(batches):
        import pyarrow

        for batch in batches:
            for name, data in zip(batch.column(0), batch.column(1)):
                answer, sums = next(call(config, {"op": "ask"}, question, data.as_buffer()))
                yield pyarrow.RecordBatch.from_pydict(
                    {"block": [name.as_py()], "id": [answer["id"]], "sums": [sums[0]]})

    return ask


def read(spark, data):
    kind, _, text = data[0].partition(":")
    if kind == "table":
        return spark.table(text)
    if kind == "query":
        return spark.sql(text)
    return spark.read.parquet(*data)


def explain(failure):
    """What may be shown of a failure: Spark's own words may hold cells."""
    text = str(failure)
    at = text.find(SHOWN)
    if at >= 0:
        return text[at + len(SHOWN):text.find(END, at)]
    try:
        condition = failure.getCondition() if hasattr(failure, "getCondition") else failure.getErrorClass()
    except Exception:
        condition = None
    return "the job of Spark failed: " + (condition or type(failure).__name__)


def collect(spark, stream, job):
    """What a job returns. While it runs, it is said how many of its tasks are done."""
    tracker, ended = spark.sparkContext.statusTracker(), threading.Event()

    def watch():
        while not ended.wait(0.5):
            stages = [tracker.getStageInfo(s) for s in tracker.getActiveStageIds()]
            done, of = (sum(getattr(s, n) for s in stages if s) for n in ("numCompletedTasks", "numTasks"))
            if of:
                send(stream, {"op": "progress", "done": done, "of": of})

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        return job.collect()
    finally:
        ended.set()
        watching.join()


def look(config):
    """What the machine has where it is called."""
    def version(package):
        try:
            return __import__(package).__version__
        except Exception:
            return ""

    def describe(_):
        found = {"system": " ".join((platform.system(), platform.machine())), "python": platform.python_version(),
                 "pyarrow": version("pyarrow"), "pandas": version("pandas")}
        try:
            begin(config).kill()
        except Exception as failure:
            found["fault"] = explain(failure)
        return found

    return describe


def main():
    link = socket.socket(socket.AF_UNIX)
    link.connect(sys.argv[1])
    stream = link.makefile("rwb")
    spark = SparkSession.builder.appName("discreet").getOrCreate()
    config, blocks = None, None
    send(stream, {"op": "ready"})
    while True:
        try:
            header, parts = receive(stream)
        except EOFError:
            break
        try:
            if header["op"] == "examine":
                context, found = spark.sparkContext, [look(header["config"])(None)]  # this machine's
                tasks = context.parallelize(range(4 * context.defaultParallelism), 4 * context.defaultParallelism)
                for machine in tasks.map(look(header["config"])).collect():
                    if machine not in found:
                        found.append(machine)
                send(stream, {"op": "examined", "spark": spark.version, "machines": found})
            elif header["op"] == "load":
                config = header["config"]
                spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
                rows = read(spark, header["data"])
                missing = [c for c in header["columns"] if c not in rows.columns]
                if missing:
                    raise RuntimeError(SHOWN + "the table lacks the columns " + ", ".join(missing) +
                                       " of the schema" + END)
                files = whole_files(spark, header["data"], rows)
                made = "block string, rows long, id string, data binary"
                if files is not None:
                    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1")
                    blocks = files.mapInArrow(file_coder(config), made)
                else:
                    rows = rows.select(*["`" + c.replace("`", "``") + "`" for c in header["columns"]])
                    blocks = rows.mapInArrow(coder(config), made)
                blocks = blocks.persist(StorageLevel.MEMORY_AND_DISK)
                for row in collect(spark, stream, blocks.select("block", "rows", "id")):
                    send(stream, {"op": "block", "block": row[0], "rows": row[1], "id": row[2]})
                spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "16")
            else:
                asked = blocks.select("block", "data").mapInArrow(
                    asker(config, bytes(parts[0])), "block string, id string, sums binary")
                for row in collect(spark, stream, asked):
                    send(stream, {"op": "answer", "block": row[0], "id": row[1]}, bytes(row[2]))
            send(stream, {"op": "done"})
        except Exception as failure:
            import traceback

            traceback.print_exc()
            send(stream, {"op": "failed", "error": explain(failure)})
    spark.stop()


if __name__ == "__main__":
    main()
