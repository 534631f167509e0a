// A machine with a wrong clock: `node --import clock-off.ts?ms=3600000 …` starts a program one hour ahead.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const RealDate = Date
const ms = Number(new URL(import.meta.url).searchParams.get('ms') ?? 0)

if (ms !== 0) {
  globalThis.Date = class extends RealDate {
    constructor(...given: []) {
      if (given.length > 0) super(...given)
      else super(RealDate.now() + ms)
    }

    static override now = () => RealDate.now() + ms
  } as DateConstructor
}

const ENTRY = join(import.meta.dirname, '../cambista.ts')

/** The command of a program on a machine whose clock is `ms` milliseconds ahead. */
export function programWithClock(ms: number): readonly [string, ...string[]] {
  const shift = pathToFileURL(import.meta.filename)
  shift.search = `ms=${ms}`
  return [process.execPath, '--import', shift.href, ENTRY]
}
