// SPDX-License-Identifier: Apache-2.0

// Package cluster lets trainings, predictions and doctor use a cluster of Spark, and is the worker that
// its executors run. Programs hand it to the packages of the core, which do not import it.
package cluster
