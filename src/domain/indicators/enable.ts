// Enables and disables indicators, for the commands of the operator.

import type { IndicatorSource, KnownIndicator } from '../../providers/provider.ts'
import { AppError } from '../../runtime/errors.ts'
import {
  findStoredIndicator,
  insertIndicator,
  raiseIndicatorRevision,
  updateIndicator,
} from '../../store/indicators/changes.ts'
import type { StoredIndicator } from '../../store/indicators/indicators.ts'
import type { WriteDb } from '../../store/tables.ts'
import type { IsoDate } from '../../values/dates.ts'
import { nearest } from '../../values/edit-distance.ts'
import { foldAccents, searchWords } from '../../values/folded-text.ts'
import type { DescribedIndicator } from './catalogue.ts'

const CODE = /^[1-9]\d{0,9}$/
const MAX_TYPOS = 2

/** Provider of indicators: its code, and the codes of its rates. */
export type IndicatorOwner = {
  id: number
  code: string
  source: Pick<IndicatorSource, 'listed'>
  rateCodes: ReadonlySet<string>
}

/** Returns whether each word of a search is in the code, the key, the name or the entity. */
export function matchesSearch(
  indicator: Pick<DescribedIndicator, 'code' | 'key' | 'name' | 'entity'>,
  search: string,
) {
  const { code, key = '', name, entity = '' } = indicator
  const text = foldAccents(`${code} ${key} ${name ?? ''} ${entity}`)
  return searchWords(search).every((word) => text.includes(word))
}

/** Returns the code of a word: the code itself, or a key. @throws AppError `usage` with the nearest key */
export function resolveCode(word: string, known: readonly KnownIndicator[]): string {
  if (CODE.test(word)) return word
  const match = known.find(({ key }) => key === word.toLowerCase())
  if (match) return match.code
  const near = nearest(
    word.toLowerCase(),
    known.flatMap(({ key }) => key ?? []),
    MAX_TYPOS,
  )
  const advice =
    near === undefined
      ? 'a code has 1 to 10 digits, and cambista indicator list --all has the keys'
      : `did you mean ${near}?`
  throw new AppError('usage', `there is no indicator ${JSON.stringify(word)}: ${advice}`)
}

/**
 * Enables indicators by codes or keys, inside a transaction. `from`: first day of their history.
 * @throws AppError `usage` for an unknown key, or the code of a rate
 */
export async function enableIndicators(
  trx: WriteDb,
  { id, code: provider, source, rateCodes }: IndicatorOwner,
  words: readonly string[],
  { from, now }: { from: IsoDate | undefined; now: Date },
): Promise<StoredIndicator[]> {
  const knownIndicators = source.listed()
  const codes = new Set(words.map((word) => resolveCode(word, knownIndicators)))
  const rate = [...codes].find((code) => rateCodes.has(code))
  if (rate !== undefined) {
    throw new AppError(
      'usage',
      `${rate} is a rate of ${provider}, which cambista series list shows: it is no indicator`,
    )
  }
  const at = await raiseIndicatorRevision(trx, now)
  const rows: StoredIndicator[] = []
  for (const code of codes) {
    const row = await findStoredIndicator(trx, code)
    if (!row) {
      const { name, unit = null, periodicity = null } = knownIndicators.find((one) => one.code === code) ?? {}
      const facts = { name: name ?? null, unit, periodicity, history_from: from ?? null }
      await insertIndicator(trx, { code, provider_id: id, ...facts, added_at: at.getTime() })
    } else {
      const history = from === undefined ? {} : { history_from: from }
      const state = row.enabled && row.state !== 'refused' ? row.state : 'new'
      const fresh = state === 'new' ? { refusal: null, refusals: 0, refusal_day: null, tried_at: null } : {}
      await updateIndicator(trx, code, { enabled: true, state, ...fresh, ...history })
    }
    const enabledRow = await findStoredIndicator(trx, code)
    if (enabledRow) rows.push(enabledRow)
  }
  return rows
}

/** Disables indicators by codes or keys, inside a transaction. @throws AppError `not-found` for one that was never enabled */
export async function disableIndicators(
  trx: WriteDb,
  source: Pick<IndicatorSource, 'listed'>,
  words: readonly string[],
  now: Date,
): Promise<StoredIndicator[]> {
  const knownIndicators = source.listed()
  const rows: StoredIndicator[] = []
  await raiseIndicatorRevision(trx, now)
  for (const code of new Set(words.map((word) => resolveCode(word, knownIndicators)))) {
    const row = await findStoredIndicator(trx, code)
    if (!row) {
      throw new AppError('not-found', `the indicator ${code} was never enabled: see cambista indicator list`)
    }
    await updateIndicator(trx, code, { enabled: false })
    rows.push({ ...row, enabled: false })
  }
  return rows
}
