// SPDX-License-Identifier: Apache-2.0

// Package spark queries rows in a cluster of Apache Spark. Executors run this program's worker, which
// codes rows into blocks and answers questions about them with sums. A Python session, which is part
// of the program, forwards the questions. Only sums, and the names and lengths of blocks, come back.
//
// To change here: a question to the cluster is in frame.go and driver.py together; bounds on what a cluster may answer
// are tested beside them.
//
// Judged by: go test ./internal/spark/... (Python's stand-in at DISCREET_LONG=1), make spark.
package spark
