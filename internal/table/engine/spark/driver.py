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

from pyspark import SparkConf, SparkContext, SparkFiles, StorageLevel, TaskContext

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
    task, environment = TaskContext.get(), dict(os.environ)
    if task is not None:
        environment["GOMAXPROCS"] = str(max(1, task.cpus()))
    process = subprocess.Popen([program, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    folder = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] if task is not None else ""
    send(process.stdin, {"op": "begin scoring" if config.get("scoring") else "begin", "program": config["program"], "rows": config["rows"], "folder": folder},
         config["schema"].encode())
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
                header = {"op": "file", "name": os.path.basename(path.as_py())}
                for answer, data in call(config, header, content.as_buffer()):
                    if data:
                        yield pyarrow.RecordBatch.from_pydict({"block": ["%d-%d" % (part, number)],
                            "rows": [answer["rows"]], "id": [answer["id"]], "data": [data[0]]})
                        number += 1

    return code


def piece_coder(config):
    """The pieces, each with its name, its number of rows and what names them. The worker keeps the rows."""
    def code(pieces):
        for piece in pieces:
            answer, _ = next(call(config, {"op": "piece", "piece": piece}))
            yield piece, answer["rows"], answer["id"]

    return code


def piece_asker(config, question):
    def ask(pieces):
        for piece, _, _ in pieces:
            answer, sums = next(call(config, {"op": "ask piece", "piece": piece}, question))
            yield piece["name"], answer["id"], sums[0]

    return ask


# Files up to this many bytes go whole to the worker, which reads them itself: much less work than
# rows that pass through Spark.
WHOLE_FILE = 128 << 20


def whole_files(spark, data, rows):
    """The contents of the Parquet files that rows come from; None where they are too long, or where
    names may hold columns or mean several files."""
    paths = rows.inputFiles()
    if data[0].startswith(("table:", "query:")) or not paths or set("".join(paths + data)) & set("=*?[]{}"):
        return None
    files = spark.read.format("binaryFile").load(data)  # a file that is named twice counts twice
    if any(row[0] > WHOLE_FILE for row in files.select("length").collect()):
        return None
    return files.select("path", "content")


def scorer(config, columns, names):
    """The rows, with what the model says about them behind."""
    def score(batches):
        import pyarrow
        import pyarrow.parquet

        part = TaskContext.get().partitionId()
        for batch in batches:
            file = io.BytesIO()
            pyarrow.parquet.write_table(pyarrow.Table.from_batches([batch]).select(columns), file, compression="NONE")
            _, data = next(call(config, {"op": "score", "name": str(part)}, file.getbuffer()))
            added = pyarrow.parquet.read_table(pyarrow.BufferReader(data[0])).combine_chunks()
            if added.num_rows != batch.num_rows:
                raise RuntimeError(SHOWN + "the worker did not score every row" + END)
            yield pyarrow.RecordBatch.from_arrays(
                batch.columns + [c.chunk(0) for c in added.columns if c.num_chunks], names=batch.schema.names + names)

    return score


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


def watched(context, stream, job):
    """What job() returns. While it runs, it is said how many of its tasks are done."""
    tracker, ended = context.statusTracker(), threading.Event()

    def watch():
        while not ended.wait(0.5):
            stages = [tracker.getStageInfo(s) for s in tracker.getActiveStageIds()]
            done, of = (sum(getattr(s, n) for s in stages if s) for n in ("numCompletedTasks", "numTasks"))
            if of:
                send(stream, {"op": "progress", "done": done, "of": of})

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        return job()
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


def load_pieces(context, stream, header):
    """Blocks of pieces, which workers keep: what Spark keeps is where they are."""
    config, pieces = header["config"], header["pieces"]
    blocks = context.parallelize(pieces, len(pieces)).mapPartitions(piece_coder(config), True)
    blocks = blocks.persist(StorageLevel.MEMORY_AND_DISK)
    for piece, rows, name in watched(context, stream, blocks.collect):
        send(stream, {"op": "block", "block": piece["name"], "rows": rows, "id": name})
    return lambda question: blocks.mapPartitions(piece_asker(config, question), True)


def require_columns(rows, header):
    missing = [c for c in header["columns"] if c not in rows.columns]
    if missing:
        raise RuntimeError(SHOWN + "the table lacks the columns " + ", ".join(missing) + " of the schema" + END)


def quote(column):
    return "`" + column.replace("`", "``") + "`"


def load_rows(context, stream, header):
    """Blocks that Spark keeps."""
    from pyspark.sql import SparkSession

    config, spark = header["config"], SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
    rows = read(spark, header["data"])
    require_columns(rows, header)
    files = whole_files(spark, header["data"], rows)
    made = "block string, rows long, id string, data binary"
    if files is not None:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1")
        blocks = files.mapInArrow(file_coder(config), made)
    else:
        rows = rows.select(*map(quote, header["columns"]))
        blocks = rows.mapInArrow(coder(config), made)
    blocks = blocks.persist(StorageLevel.MEMORY_AND_DISK)
    for row in watched(context, stream, blocks.select("block", "rows", "id").collect):
        send(stream, {"op": "block", "block": row[0], "rows": row[1], "id": row[2]})
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "16")
    return lambda question: blocks.select("block", "data").mapInArrow(
        asker(config, question), "block string, id string, sums binary")


def score(context, stream, header):
    """Writes the table with columns added. Spark gives the folder its files when all are whole."""
    from pyspark.sql import SparkSession, functions
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType

    spark = SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
    rows = read(spark, header["data"])
    require_columns(rows, header)
    known = header.get("known")
    if known is not None:
        others = [c for c in rows.columns if c not in known]
        if others and not header.get("drop"):
            raise RuntimeError(SHOWN + "the table has the columns " + ", ".join(others) +
                               " that the model does not know (--extra drop or keep)" + END)
        rows = rows.select(*[quote(c) for c in rows.columns if c in known])
    names = []
    for column in header["added"]:
        name, n = column["name"], 2
        while name in rows.columns + names:
            name, n = "%s_%d" % (column["name"], n), n + 1
        names.append(name)
    kinds = [DoubleType() if column["number"] else StringType() for column in header["added"]]
    made = StructType(rows.schema.fields + [StructField(n, k) for n, k in zip(names, kinds)])
    scored = rows.mapInArrow(scorer(header["config"], header["columns"], names), made)
    watched(context, stream, lambda: scored.write.parquet(header["out"]))
    written = spark.read.parquet(header["out"]).select(quote(names[0]), quote(names[1])).toDF("label", "score")
    counts = written.groupBy("label").agg(functions.count("*"), functions.sum("score"))
    send(stream, {"op": "scored", "counts": [
        {"value": value, "rows": rows, "sum": total} for value, rows, total in counts.collect()]})


def main():
    link = socket.socket(socket.AF_UNIX)
    link.connect(sys.argv[1])
    stream = link.makefile("rwb")
    context, ask = SparkContext.getOrCreate(SparkConf().setAppName("discreet")), None
    # Executors open files themselves where a path without a scheme means one, and keep what they read in
    # files where the cluster does not want these encrypted.
    place = context._jsc.hadoopConfiguration().get("fs.defaultFS", "file:///")
    encrypted = context.getConf().get("spark.io.encryption.enabled", "false").lower() == "true"
    send(stream, {"op": "ready", "local": place.startswith("file:") and not encrypted,
                  "parallel": context.defaultParallelism})
    while True:
        try:
            header, parts = receive(stream)
        except EOFError:
            break
        try:
            if header["op"] == "examine":
                found = [look(header["config"])(None)]  # this machine's
                tasks = context.parallelize(range(4 * context.defaultParallelism), 4 * context.defaultParallelism)
                for machine in tasks.map(look(header["config"])).collect():
                    if machine not in found:
                        found.append(machine)
                send(stream, {"op": "examined", "spark": context.version, "machines": found})
            elif header["op"] == "load":
                ask = (load_pieces if header.get("pieces") else load_rows)(context, stream, header)
            elif header["op"] == "score":
                score(context, stream, header)
            else:
                for name, rows, sums in watched(context, stream, ask(bytes(parts[0])).collect):
                    send(stream, {"op": "answer", "block": name, "id": rows}, bytes(sums))
            send(stream, {"op": "done"})
        except Exception as failure:
            import traceback

            traceback.print_exc()
            send(stream, {"op": "failed", "error": explain(failure)})
    context.stop()


if __name__ == "__main__":
    main()
