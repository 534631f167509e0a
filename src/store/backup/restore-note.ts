// What restores from a backup set have begun with is noted in the set. The same backup may be restored a second time, and
// what was given an id after the first must not share it with something else.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import type { Counters } from '../sqlite/id-counters.ts'
import { writeNote } from './note.ts'

const NOTE_FILE = 'restored.json'

const Note = v.object({ counters: v.record(v.string(), v.pipe(v.number(), v.safeInteger(), v.minValue(0))) })

/** The highest counters that a restore from this set has begun with; none when no such note can be read. */
export function readRestoreNote(setDir: string): Counters {
  try {
    return v.parse(Note, JSON.parse(readFileSync(join(setDir, NOTE_FILE), 'utf8'))).counters
  } catch {
    return {} // a note is no reason not to restore
  }
}

/** Notes them, flushed. Returns why that could not be done: a set may be on a disk that is only read. */
export async function writeRestoreNote(setDir: string, counters: Counters): Promise<string | undefined> {
  const highest = { ...readRestoreNote(setDir) }
  for (const [table, counter] of Object.entries(counters)) {
    highest[table] = Math.max(counter, highest[table] ?? 0)
  }
  return writeNote(setDir, NOTE_FILE, { counters: highest })
}
