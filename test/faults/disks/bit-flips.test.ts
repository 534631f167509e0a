// Single flipped bits in the pages of rates, of revisions and of their indexes. Each is without effect, refused, or its
// days are named as damaged: no answer is another number. To repeat the flips: CAMBISTA_SEED=17.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { columnDecimals, columnValue } from '../../../src/domain/rates/column.ts'
import { isCovered } from '../../../src/domain/rates/covered-days.ts'
import { openPastRates } from '../../../src/domain/rates/history/past.ts'
import { createRevisionReader } from '../../../src/domain/rates/history/sound-revisions.ts'
import { openRateCache, type RateSnapshot } from '../../../src/domain/rates/rate-cache.ts'
import { AppError, errorCode } from '../../../src/runtime/errors.ts'
import { type RateRevision, selectRevisions } from '../../../src/store/rates/change-log.ts'
import { DATABASE_FILE, openDatabase } from '../../../src/store/sqlite/database.ts'
import { addDays, dayNumber, isoDate } from '../../../src/values/dates.ts'
import { openDesk } from '../../support/rates/memory-bank.ts'
import { createRandom } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { figure, scaled } from '../scale.ts'

const FLIPS = scaled({ short: 200, long: 2000 })
const FIRST = '2024-06-01'
/** Objects whose pages are flipped. `stored_at` has no sum, so `as_of` is compared beside revisions alone. */
const OBJECTS = [
  { name: 'rates', isPast: false },
  { name: 'rates_rounded', isPast: false },
  { name: 'rate_revisions', isPast: true },
  { name: 'rate_revisions_by_series', isPast: true },
]

/** Values by series and day, with decimals. */
type Values = Map<string, string>

test(`${FLIPS} flipped bits change no number`, async (t) => {
  figure(t, 'seed', SEED)
  const random = createRandom(SEED)
  const { dataDir, instant } = await openStore(t)
  const bytes = readFileSync(join(dataDir, DATABASE_FILE))
  const pages = listPages(join(dataDir, DATABASE_FILE))
  const present = await readValues(dataDir)
  const past = await readValues(dataDir, instant)
  const revisions = await readRevisions(dataDir)
  assert.ok(revisions && revisions.length > 500)
  assert.ok(present.values.size > 3000 && past.values.size > 3000)
  assert.notDeepEqual(present.values, past.values)
  const counts = { 'without effect': 0, refused: 0, named: 0 }
  for (let flip = 0; flip < FLIPS; flip += 1) {
    const { offset, isPast } = random.item(pages)
    const at = offset + random.int(0, 4095)
    const bit = random.int(0, 7)
    const where = `byte ${at}, bit ${bit}`
    const damagedDir = copyFlipped(t, bytes, at, bit)
    const kinds = [compareValues(await readValues(damagedDir), present, where)]
    if (isPast) {
      kinds.push(compareValues(await readValues(damagedDir, instant), past, `${where}, as_of`))
      const rows = await readRevisions(damagedDir)
      for (const row of rows ?? [])
        assert.deepEqual(
          row,
          revisions.find(({ id }) => id === row.id),
          where,
        )
    }
    counts[kinds.find((kind) => kind !== 'without effect') ?? 'without effect'] += 1
  }
  for (const [kind, count] of Object.entries(counts)) figure(t, kind, count)
  assert.ok(counts.named > 0 && counts.refused > 0 && counts['without effect'] > 0)
})

/** A store of two years with rounded values, corrections and refinements. */
async function openStore(t: TestContext): Promise<{ dataDir: string; instant: number }> {
  const desk = await openDesk(t, { backfillFrom: FIRST })
  const digits = (day: string, factor: number) => (400 + ((dayNumber(day) * factor) % 97) / 10).toFixed(2)
  for (const [at, code] of Object.keys(desk.bank.publish).entries()) {
    const factor = at < 2 ? 1 : 0.0025
    const usual = desk.bank.publish[code]
    desk.bank.publish[code] = (day) =>
      usual?.(day) &&
      String(Number(digits(day, at + 3)) * factor)
        .slice(0, 7)
        .replace(/\.?0+$/, '')
  }
  desk.bank.roundedTo = 4
  await desk.sync()
  const instant = desk.clock.now.getTime() + 60_000
  desk.clock.now = new Date(instant + 60_000)
  desk.bank.roundedTo = undefined
  for (const [code, usual] of Object.entries(desk.bank.publish)) {
    desk.bank.publish[code] = (day) => {
      const value = usual(day)
      return value && dayNumber(day) % 5 === 0 ? `${value}${value.includes('.') ? '' : '.'}1` : value
    }
  }
  await desk.sync({ range: { from: FIRST, to: addDays(desk.clock.today(), 1) } })
  await desk.db.destroy()
  const sqlite = new Sqlite(join(desk.dataDir, DATABASE_FILE))
  sqlite.pragma('wal_checkpoint(truncate)')
  sqlite.close()
  return { dataDir: desk.dataDir, instant }
}

/** Offsets of the pages of these objects in the file. */
function listPages(path: string): { offset: number; isPast: boolean }[] {
  const sqlite = new Sqlite(path, { readonly: true })
  const offsets = sqlite.prepare('select pgoffset from dbstat where name = ?').pluck()
  const pages = OBJECTS.flatMap(({ name, isPast }) =>
    (offsets.all(name) as number[]).map((offset) => ({ offset, isPast })),
  )
  sqlite.close()
  return pages
}

function copyFlipped(t: TestContext, bytes: Buffer, at: number, bit: number): string {
  const dataDir = temporaryDirectory(t)
  const path = join(dataDir, DATABASE_FILE)
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ (1 << bit)
  writeFileSync(path, copy)
  return dataDir
}

/** Revisions as the lists read them; undefined: they are refused. */
async function readRevisions(dataDir: string): Promise<RateRevision[] | undefined> {
  try {
    const db = openDatabase(dataDir, { mustExist: true })
    try {
      const kinds = ['correction', 'refined'] as const
      const read = createRevisionReader(db)
      const lists = await Array.fromAsync(kinds, (kind) => read((trx) => selectRevisions(trx, { kind })))
      return lists.flat()
    } finally {
      await db.destroy()
    }
  } catch (error) {
    requireRefusal(error)
    return undefined
  }
}

/** Rethrows a defect of the program. */
function requireRefusal(error: unknown): void {
  if (!(error instanceof AppError) && !errorCode(error).startsWith('SQLITE_')) throw error
}

type ReadValues = { values: Values; hasValue: (key: string) => boolean; isRefused: boolean }

/** Values as the answers read them, at an instant or now. */
async function readValues(dataDir: string, instant?: number): Promise<ReadValues> {
  const values: Values = new Map()
  let snapshot: RateSnapshot | undefined
  try {
    const db = openDatabase(dataDir, { mustExist: true })
    try {
      const cache = await openRateCache(db, [])
      const collect = async (of: RateSnapshot) => {
        for (const series of of.series) {
          const [column] = await of.columns([series])
          if (!column) continue
          for (const [at, day] of column.days.entries()) {
            values.set(
              `${series.id} ${isoDate(day)}`,
              `${columnValue(column, at)} ${columnDecimals(column, at)}`,
            )
          }
        }
        snapshot = of
      }
      if (instant === undefined) await cache.read(collect)
      else await cache.read((now) => openPastRates(db).read(now, instant, collect))
    } finally {
      await db.destroy()
    }
  } catch (error) {
    requireRefusal(error)
    return { values, hasValue: () => false, isRefused: true }
  }
  const isNamed = (key: string) => {
    const [id = '', day = ''] = key.split(' ')
    return !isCovered(snapshot?.coveredDays(Number(id)) ?? new Int32Array(), dayNumber(day))
  }
  return { values, hasValue: (key) => !isNamed(key), isRefused: false }
}

function compareValues(
  { values, hasValue, isRefused }: ReadValues,
  truth: ReadValues,
  where: string,
): 'without effect' | 'refused' | 'named' {
  for (const [key, value] of values) assert.equal(value, truth.values.get(key), `${where}: ${key}`)
  if (isRefused) return 'refused'
  const absent = [...truth.values.keys()].filter((key) => !values.has(key))
  for (const key of absent) assert.ok(!hasValue(key), `${where}: ${key} is absent, and no hole`)
  return absent.length > 0 ? 'named' : 'without effect'
}
