// Readings of invoices to compare: by the reader of the program, and by ElementTree of Python.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { createInvoiceReader } from '../../../src/formats/invoices/invoice.ts'
import type { Random } from '../rates/random-bank.ts'

const PYTHON = '/usr/bin/python3'
const PROGRAMS = join(import.meta.dirname, '../../clients/programs')

/** Reads a document in pieces of one of these sizes. */
export function readInPieces(bytes: Buffer, sizes: readonly number[], random: Random) {
  const reader = createInvoiceReader()
  const step = random.item([bytes.length || 1, ...sizes])
  for (let at = 0; at < bytes.length; at += step) {
    if (!reader.push(bytes.subarray(at, at + step))) break
  }
  return reader.end()
}

/** Returns the reading of each document by a script, which prints a line of JSON for each line of base64. */
export function readByPython<Reading>(script: string, documents: readonly Buffer[]): Reading[] {
  const input = documents.map((one) => `${one.toString('base64')}\n`).join('')
  const options = { input, encoding: 'utf8', maxBuffer: 100_000_000 } as const
  const { stdout, stderr } = spawnSync(PYTHON, [join(PROGRAMS, script)], options)
  assert.equal(stderr, '')
  const lines = stdout.trim().split('\n')
  assert.equal(lines.length, documents.length)
  return lines.map((line) => JSON.parse(line) as Reading)
}
