# SPDX-License-Identifier: Apache-2.0
#
# The session of Spark that discreet asks: it reads messages from a socket, runs one job for each
# question, and sends back answers, which are sums over rows. It collects no row and knows no price.
import gc
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
import zipimport

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
        kept.session, kept.told = config["session"], {}
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
    # Before every task Spark lets Python forget what it has found to import, and each of the packages in Spark's zip
    # file lists all of that file again; after it, Python looks for garbage among all that was imported. These took
    # 130 of the 131 ms of processor time of a task that does nothing.
    zipimport.zipimporter.invalidate_caches = lambda _: None
    gc.freeze()
    program = os.path.join(SparkFiles.getRootDirectory(), config["worker"])
    task, environment = TaskContext.get(), dict(os.environ)
    if task is not None:
        environment["GOMAXPROCS"] = str(max(1, task.cpus()))
    process = subprocess.Popen([program, "worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    folder = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] if task is not None else ""
    header = {"op": "begin scoring" if config.get("scoring") else "begin", "program": config["program"],
              "rows": config["rows"], "folder": folder, "secret": config.get("secret", ""),
              "keep": config.get("keep")}
    send(process.stdin, header, config["schema"].encode())
    check(receive(process.stdout)[0])
    return process


def check(answer):
    if answer.get("error"):
        raise RuntimeError(SHOWN + answer["error"] + END)
    return answer


def made(name, answer, data):
    """A row about a block: its bytes and, where rows are persons', the list of these."""
    import pyarrow

    row = {"block": [name], "rows": [answer["rows"]], "id": [answer["id"]], "data": [data[0]]}
    if len(data) > 1:
        row["persons"] = [data[1]]
    return pyarrow.RecordBatch.from_pydict(row)


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
            return made(name, answer, data)

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
        part, number = TaskContext.get().partitionId(), 0
        for batch in batches:
            for path, content in zip(batch.column(0), batch.column(1)):
                header = {"op": "file", "name": os.path.basename(path.as_py())}
                for answer, data in call(config, header, content.as_buffer()):
                    if data:
                        yield made("%d-%d" % (part, number), answer, data)
                        number += 1

    return code


def piece_coder(config):
    """The pieces, each with its name, its number of rows and what names them. The worker keeps the rows."""
    def code(pieces):
        for piece in pieces:
            answer, persons = next(call(config, {"op": "piece", "piece": piece}))
            if persons:
                yield piece["name"], answer["rows"], answer["id"], piece, persons[0]
            else:
                yield piece, answer["rows"], answer["id"]

    return code


def piece_asker(config, question):
    def ask(pieces):
        for piece, _, _ in pieces:
            answer, sums = next(call(config, {"op": "ask piece", "piece": piece}, question))
            yield piece["name"], answer["id"], sums[0]

    return ask


class Persons:
    """Blocks of rows of persons, who may have rows in several: (name, rows, id, a piece or the bytes of a block, the
    list of its persons). How many rows a person has is said by one shuffle of parts of the lists, which the worker cuts,
    sorts and answers; neither identifiers nor lists come to the session.

    What is kept is made by itself, and by one process of Python for each core: another one would have a worker of its
    own, which reads its pieces again. So a task never has two, as one that makes what another one is to use would."""

    def __init__(self, context, stream, config, blocks):
        self.context, self.stream, self.config, self.drawn = context, stream, config, {}
        self.blocks = self.keep(blocks)
        for name, rows, block in self.collect(self.blocks, lambda b: (b[0], b[1], b[2])):
            send(stream, {"op": "block", "block": name, "rows": rows, "id": block})

    def keep(self, rdd):
        rdd = rdd.persist(StorageLevel.MEMORY_AND_DISK)
        watched(self.context, self.stream, rdd._jrdd.count)
        return rdd

    def collect(self, rdd, what):
        return watched(self.context, self.stream, rdd.map(what).collect)

    def exchange(self, parts, header, buckets):
        """For each block the answer to its parts, and how many bytes of it came from which bucket. parts are (bucket,
        (partition, number there, first row, bytes)) of every block, with an empty one where it has none."""
        answers = parts.partitionBy(buckets, int).mapPartitionsWithIndex(answerer(self.config, header))
        return self.keep(answers.partitionBy(self.blocks.getNumPartitions(), int).mapPartitions(gatherer(buckets)))

    def count(self, header):
        parts = self.blocks.mapPartitionsWithIndex(list_sender(header["buckets"]))
        self.replies = self.exchange(parts, {"op": "count"}, header["buckets"])
        self.told = self.keep(self.blocks.zip(self.replies).mapPartitions(settler(self.config)))
        self.blocks.unpersist()
        for name, block, persons in self.collect(self.told, lambda b: (b[0], b[2], b[5])):
            send(self.stream, {"op": "counted", "block": name, "id": block, "persons": persons})

    def draw(self, header):
        offers = self.told.zip(self.replies).mapPartitionsWithIndex(offerer(self.config, header))
        self.drawn[header["view"]["name"]] = drawn = self.exchange(
            offers, {"op": "draw", "view": header["view"]}, header["buckets"])
        for name, block, size in self.collect(self.told.zip(drawn), lambda b: (b[0][0], b[0][2], len(b[1][1]))):
            send(self.stream, {"op": "drawn", "block": name, "id": block, "rows": size // 4})

    def ask(self, question, view):
        blocks = self.told.zip(self.drawn[view["name"]]) if view["kind"] == "draw" else self.told
        return blocks.mapPartitions(view_asker(self.config, question, view))


RECORD, REPLY = 20, 8  # bytes about a person, see shuffle.go


def list_sender(buckets):
    """The lists of blocks, cut by the first bytes of keys."""
    def cut(persons, bucket):
        least, low, high = struct.pack(">Q", -(-(bucket << 64) // buckets)), 0, len(persons) // RECORD
        while low < high:
            middle = (low + high) // 2
            if persons[RECORD * middle:RECORD * middle + 8] < least:
                low = middle + 1
            else:
                high = middle
        return RECORD * low

    def send_lists(partition, blocks):
        for number, (_, _, _, _, persons) in enumerate(blocks):
            ends = [cut(persons, bucket) for bucket in range(1, buckets)] + [len(persons)]
            for bucket, (start, end) in enumerate(zip([0] + ends, ends)):
                if start < end or bucket == 0:
                    yield bucket, (partition, number, 0, bytes(persons[start:end]))

    return send_lists


def answerer(config, header):
    """What the worker says to the parts of one bucket."""
    def answer(bucket, parts):
        parts = sorted(part for _, part in parts)
        full = [part for part in parts if part[3]]
        for partition, number, _, data in parts:
            if not data:
                yield partition, (number, bucket, b"")
        if not full:
            return
        answer, data = next(call(config, dict(header, places=[part[2] for part in full]),
                                 b"".join(part[3] for part in full)))
        lens, start = answer.get("lens") or [len(part[3]) // RECORD * REPLY for part in full], 0
        for (partition, number, _, _), size in zip(full, lens):
            yield partition, (number, bucket, data[0][start:start + size])
            start += size

    return answer


def gatherer(buckets):
    """The answers about each block, in the order of blocks and buckets."""
    def gather(answers):
        by_block = {}
        for _, (number, bucket, data) in answers:
            by_block.setdefault(number, {})[bucket] = data
        for number in sorted(by_block):
            of = [by_block[number].get(bucket, b"") for bucket in range(buckets)]
            yield [len(data) for data in of], b"".join(of)

    return gather


def settler(config):
    """The blocks, each with what it keeps of what was said about its persons, and how many were counted there."""
    def settle(blocks):
        for (name, rows, block, held, _), (_, replies) in blocks:
            answer, totals = next(call(config, {"op": "settle"}, replies))
            yield name, rows, block, held, totals[0], answer.get("persons") or []

    return settle


def offerer(config, header):
    """The rows that blocks offer to be drawn."""
    def offer(partition, blocks):
        for number, ((name, _, _, held, _, _), (lens, replies)) in enumerate(blocks):
            first = header["firsts"][name]
            ask = {"op": "offer", "view": header["view"], "lots": header["lots"], "first": first,
                   "lens": [size // REPLY for size in lens]}
            if isinstance(held, dict):
                answer, data = next(call(config, dict(ask, op="offer piece", piece=held), replies))
            else:
                answer, data = next(call(config, ask, held, replies))
            start = 0
            for bucket, size in enumerate(answer["lens"]):
                if size or bucket == 0:
                    yield bucket, (partition, number, first, data[0][start:start + size])
                start += size

    return offer


def view_asker(config, question, view):
    def ask(blocks):
        for block in blocks:
            told = b""
            if view["kind"] == "draw":
                block, (_, told) = block
            name, _, _, held, totals, _ = block
            if view["kind"] == "weigh":
                told = totals
            header = {"op": "ask", "view": view}
            if isinstance(held, dict):
                # The worker remembers what it was told last about a piece.
                known = getattr(sys.modules.get("_discreet_worker"), "told", {}).get(name) == view["name"]
                header = dict(header, op="ask piece", piece=held, told=known)
                answer, sums = next(call(config, header, question, b"" if known else told))
                sys.modules["_discreet_worker"].told[name] = view["name"]
            else:
                answer, sums = next(call(config, header, question, held, told))
            yield name, answer["id"], sums[0]

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
    if len(data) > 1:
        files = [file for path in data for file in spark.read.parquet(path).inputFiles()]
        if len(set(files)) < len(files):
            raise RuntimeError(SHOWN + "data must name each file once: the promise does not hold for rows that count twice" + END)
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
    """What job() returns. While it runs, it is said that it does."""
    tracker, ended = context.statusTracker(), threading.Event()

    def watch():
        while not ended.wait(0.5):
            stages = [tracker.getStageInfo(s) for s in tracker.getActiveStageIds()]
            if any(stages):
                send(stream, {"op": "progress"})

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
    if config.get("secret"):
        return Persons(context, stream, config, blocks)
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
    form = "block string, rows long, id string, data binary"
    if config.get("secret"):
        form += ", persons binary"
    if files is not None:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "1")
        blocks = files.mapInArrow(file_coder(config), form)
    else:
        rows = rows.select(*map(quote, header["columns"]))
        blocks = rows.mapInArrow(coder(config), form)
    if config.get("secret"):
        return Persons(context, stream, config, blocks.rdd.map(tuple))
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
    # Batches of one: what is kept of blocks is long, and two of Spark's collections are put side by side. Tasks go
    # where blocks are kept, not to where a shuffle has left most.
    conf = SparkConf().setAppName("discreet").set("spark.shuffle.reduceLocality.enabled", "false")
    context, ask = SparkContext(conf=conf, batchSize=1), None
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
            elif header["op"] in ("count", "draw"):
                getattr(ask, header["op"])(header)
            else:
                question = bytes(parts[0])
                answers = ask.ask(question, header["view"]) if "view" in header else ask(question)
                for name, rows, sums in watched(context, stream, answers.collect):
                    send(stream, {"op": "answer", "block": name, "id": rows}, bytes(sums))
            send(stream, {"op": "done"})
        except Exception as failure:
            import traceback

            traceback.print_exc()
            send(stream, {"op": "failed", "error": explain(failure)})
    context.stop()


if __name__ == "__main__":
    main()
