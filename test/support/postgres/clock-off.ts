// A machine whose clock is wrong: `node --import clock-off.ts?ms=3600000 …` starts a program for which it is an hour later.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const Right = Date
const ms = Number(new URL(import.meta.url).searchParams.get('ms') ?? 0)

if (ms !== 0) {
  globalThis.Date = class extends Right {
    constructor(...given: []) {
      if (given.length > 0) super(...given)
      else super(Right.now() + ms)
    }

    static override now = () => Right.now() + ms
  } as DateConstructor
}

const ENTRY = join(import.meta.dirname, '../cambista.ts')

/** The command of a program on a machine whose clock is that many milliseconds ahead. */
export function programAhead(ms: number): readonly [string, ...string[]] {
  const shift = pathToFileURL(import.meta.filename)
  shift.search = `ms=${ms}`
  return [process.execPath, '--import', shift.href, ENTRY]
}
