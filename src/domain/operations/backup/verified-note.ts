// Note in a backup set of its last verified backup, so that a server knows it after a restart.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { writeNote } from './note.ts'

const NOTE_FILE = 'verified.json'

const Note = v.object({
  backup: v.pipe(v.string(), v.regex(/^[\w-]+$/)),
  created_at: v.pipe(v.string(), v.isoTimestamp()),
})

/** Returns the last verified backup; undefined: none, deleted, or an unreadable note. */
export function readVerifiedNote(setDir: string): { name: string; createdAt: Date } | undefined {
  try {
    const { backup: name, created_at } = v.parse(
      Note,
      JSON.parse(readFileSync(join(setDir, NOTE_FILE), 'utf8')),
    )
    return existsSync(join(setDir, name)) ? { name, createdAt: new Date(created_at) } : undefined
  } catch {
    return undefined
  }
}

/** Returns why it could not be noted. */
export function writeVerifiedNote(
  setDir: string,
  { name, createdAt }: { name: string; createdAt: string },
): Promise<string | undefined> {
  return writeNote(setDir, NOTE_FILE, { backup: name, created_at: createdAt })
}
