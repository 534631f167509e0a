import {
  type DescribedIndicator,
  describeIndicators,
  describeKnown,
} from '../../../domain/indicators/catalogue.ts'
import {
  disableIndicators,
  enableIndicators,
  type IndicatorOwner,
  matchesSearch,
} from '../../../domain/indicators/enable.ts'
import { historyPercent } from '../../../domain/indicators/history-share.ts'
import type { IndicatorSource, Provider } from '../../../providers/provider.ts'
import { AppError } from '../../../runtime/errors.ts'
import { atomically } from '../../../store/engine.ts'
import { findNewestIndicatorValue } from '../../../store/indicators/changes.ts'
import { type StoredIndicator, selectIndicators } from '../../../store/indicators/indicators.ts'
import { selectIndicatorCoverage, selectValueDays } from '../../../store/indicators/values.ts'
import { selectProviders } from '../../../store/rates/providers.ts'
import { selectProviderSeries } from '../../../store/rates/series.ts'
import type { ReadDb } from '../../../store/tables.ts'
import { currentDay, type IsoDate } from '../../../values/dates.ts'
import { command, printResult } from '../../command.ts'
import { STORAGE } from '../../options/storage.ts'
import { printRows } from '../rows.ts'

const DAILY = ['diaria', null]

type ListedIndicator = DescribedIndicator & {
  newest_value: string | null
  /** Whole percent of the history that was read; null: its begin is not known yet. */
  history_percent: number | null
  state: StoredIndicator['state'] | 'disabled' | 'available'
  refusal: string | null
}

export const indicatorList = command({
  name: 'indicator list',
  options: [...STORAGE, 'all', 'search', 'json'],
  run: (input) =>
    input.withDatabase({ mustExist: true }, async (db, { clock }) => {
      const { all, search } = input.options
      const { provider, source } = await requireSource(input.terminal.providers)
      const listed = await selectListed(db, { provider, source, today: currentDay(clock, provider.timeZone) })
      const codes = new Set(listed.map(({ code }) => code))
      const others = all
        ? source.listed().flatMap((one): ListedIndicator[] => {
            const facts = {
              newest_value: null,
              history_percent: null,
              state: 'available',
              refusal: null,
            } as const
            return codes.has(one.code) ? [] : [{ ...describeKnown(provider.code, one), ...facts }]
          })
        : []
      const rows = [...listed.filter(({ enabled }) => enabled || all), ...others].filter(
        (one) => search === undefined || matchesSearch(one, search),
      )
      printRows(input, rows, {
        CODE: 'code',
        KEY: (one) => one.key ?? '',
        UNIT: (one) => one.unit ?? '-',
        NEWEST: (one) => one.newest_date ?? '-',
        VALUE: (one) => one.newest_value ?? '-',
        HISTORY: (one) => (one.history_percent === null ? '-' : `${one.history_percent} %`),
        STATE: (one) => (one.refusal === null ? one.state : `${one.state} (${one.refusal})`),
        NAME: 'name',
      })
    }),
})

export const indicatorEnable = command({
  name: 'indicator enable',
  positionals: ['CODE…'],
  options: [...STORAGE, 'from', 'json'],
  changesData: true,
  run: ({ positionals, options, terminal, withDatabase }) =>
    withDatabase({ mustExist: true }, async (db, { clock }) => {
      const { provider, source } = await requireSource(terminal.providers)
      const { from } = options
      const today = currentDay(clock, provider.timeZone)
      if (from !== undefined && from > today) {
        throw new AppError('usage', `--from ${from} is after today, ${today}`)
      }
      const rows = await atomically(db, async (trx) => {
        const owner = await selectOwner(trx, provider, source)
        return enableIndicators(trx, owner, positionals, { from, now: clock() })
      })
      const cost = requestCost(rows, today)
      const codes = rows.map(({ code }) => code)
      const lines = [
        ...rows.map(
          ({ code, name }) => `${code} is enabled: ${name ?? 'its name comes with the first answer'}`,
        ),
        costLine(cost),
        `Each request needs ${tokenName(provider)}: the website of the bank cannot be asked for one code.`,
      ]
      printResult(terminal, options, { enabled: codes, ...cost }, lines)
    }),
})

export const indicatorDisable = command({
  name: 'indicator disable',
  positionals: ['CODE…'],
  options: [...STORAGE, 'json'],
  changesData: true,
  run: ({ positionals, options, terminal, withDatabase }) =>
    withDatabase({ mustExist: true }, async (db, { clock }) => {
      const { source } = await requireSource(terminal.providers)
      const rows = await atomically(db, (trx) => disableIndicators(trx, source, positionals, clock()))
      const codes = rows.map(({ code }) => code)
      const lines = codes.map((code) => `${code} is disabled; its stored values are still served`)
      printResult(terminal, options, { disabled: codes }, lines)
    }),
})

type RequestCost = {
  requests_a_day: number
  requests_a_week: number
  /** Null: one a year, until a year has no values. */
  history_requests: number | null
}

async function requireSource(
  providers: readonly Provider[],
): Promise<{ provider: Provider; source: IndicatorSource }> {
  for (const provider of providers) {
    if (provider.indicators) return { provider, source: await provider.indicators() }
  }
  throw new AppError('failed', 'no provider has indicators')
}

async function selectOwner(db: ReadDb, provider: Provider, source: IndicatorSource): Promise<IndicatorOwner> {
  const row = (await selectProviders(db)).find(({ code }) => code === provider.code)
  if (!row) throw new AppError('failed', `the provider ${provider.code} is not in the database`)
  const series = await selectProviderSeries(db, row.id)
  const rateCodes = new Set(series.map(({ external_code: code }) => code))
  return { id: row.id, code: provider.code, source, rateCodes }
}

async function selectListed(
  db: ReadDb,
  { provider, source, today }: { provider: Provider; source: IndicatorSource; today: IsoDate },
): Promise<ListedIndicator[]> {
  const rows = await selectIndicators(db)
  const days = await selectValueDays(db)
  const coverage = await selectIndicatorCoverage(db)
  const described = describeIndicators(provider.code, rows, { days, named: source.named() })
  return Array.fromAsync(described, async (one, at) => {
    const row = rows[at]
    const { state = 'new', refusal = null } = row ?? {}
    const newest = await findNewestIndicatorValue(db, one.code)
    return {
      ...one,
      newest_value: newest?.value ?? null,
      history_percent: row ? historyPercent(row, coverage.get(one.code) ?? [], today) : null,
      state: one.enabled ? state : 'disabled',
      refusal,
    }
  })
}

function requestCost(rows: readonly StoredIndicator[], today: IsoDate): RequestCost {
  const daily = rows.filter(({ periodicity }) => DAILY.includes(periodicity)).length
  const years = rows.map(({ history_from: from }) =>
    from === null ? undefined : Number(today.slice(0, 4)) - Number(from.slice(0, 4)) + 1,
  )
  return {
    requests_a_day: daily,
    requests_a_week: rows.length - daily,
    history_requests: years.includes(undefined)
      ? null
      : years.reduce<number>((sum, one) => sum + (one ?? 0), 0),
  }
}

function costLine({ requests_a_day, requests_a_week, history_requests }: RequestCost): string {
  const history =
    history_requests === null ? 'one a year, until a year has no values' : `${history_requests} at most`
  return `Requests: ${requests_a_day} a day, ${requests_a_week} a week; for the history ${history}; at most 600 a day.`
}

function tokenName({ settings }: Provider): string {
  const { token } = settings
  return token === undefined ? 'the token' : `${token.name} (--${token.option})`
}
