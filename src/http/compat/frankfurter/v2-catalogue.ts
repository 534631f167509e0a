// Catalogue of Frankfurter v2: currencies of a provider, and the enabled providers.

import { sourceTerms } from '../../../domain/rates/active-providers.ts'
import { listCurrencies } from '../../../domain/rates/crosses.ts'
import { listSeries, withColumns } from '../../../domain/rates/queries.ts'
import type { RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import { PROVIDERS } from '../../../providers/list.ts'
import { AppError } from '../../../runtime/errors.ts'
import { dayNumber, type IsoDate, isoDate } from '../../../values/dates.ts'
import type { AnyEndpoint } from '../../endpoint/endpoint.ts'
import { currencyName, currencySymbol } from '../codes.ts'
import { type CompatDeps, compatEndpoint, PROVIDER } from '../shape.ts'
import { answeredProvider, checkNames, namedProvider, parseProviders } from './v2-query.ts'

type CatalogueCurrency = {
  iso_code: string
  iso_numeric: null
  name: string
  symbol: string | null
  start_date: IsoDate | null
  end_date: IsoDate | null
}

export function catalogueEndpoints(deps: CompatDeps, root: '/compat/frankfurter/v2'): AnyEndpoint[] {
  return [
    compatEndpoint(deps, {
      path: `${root}/currencies`,
      namedProvider: (query) => namedProvider(deps, query),
      parse(request) {
        checkNames(request.query, ['scope', 'providers'])
        return { today: request.today, ...parseProviders(request) }
      },
      find(snapshot, { today, ...query }) {
        const isBankAlone = snapshot.providers.every(({ code }) => code === PROVIDER)
        const provider = answeredProvider(snapshot, query) ?? (isBankAlone ? PROVIDER : undefined)
        return provider === undefined ? [] : currencies(snapshot, { provider, today })
      },
    }),
    // Frankfurter rejects CSV of the currencies too.
    compatEndpoint(deps, {
      path: `${root}/currencies.csv`,
      parse() {
        throw new AppError('not-acceptable', 'not acceptable')
      },
      find: () => undefined,
      encode: () => '',
    }),
    compatEndpoint(deps, {
      path: `${root}/currency/{code}`,
      parse({ query, params, today, provider }) {
        checkNames(query, [])
        return { code: params.code?.toUpperCase() ?? '', today, provider }
      },
      async find(snapshot, { code, ...query }) {
        const currency = (await currencies(snapshot, query)).find(({ iso_code }) => iso_code === code)
        if (!currency) throw new AppError('not-found', 'not found')
        return { ...currency, providers: [query.provider.toUpperCase()] }
      },
    }),
    compatEndpoint(deps, {
      path: `${root}/providers`,
      parse({ query, today }) {
        checkNames(query, [])
        return { today }
      },
      find(snapshot, { today }) {
        const others = snapshot.providers.flatMap(({ code, enabled }) =>
          enabled && code !== PROVIDER ? code : [],
        )
        const codes = [PROVIDER, ...others].toSorted()
        return Promise.all(codes.map((provider) => catalogueProvider(snapshot, { provider, today })))
      },
    }),
  ]
}

/** Describes a provider. The bank has the fields of Frankfurter alone; others, and invented values, their attribution too. */
async function catalogueProvider(
  snapshot: RateSnapshot,
  query: { provider: string; today: IsoDate },
): Promise<Record<string, unknown>> {
  const all = await currencies(snapshot, query)
  const days = (pick: (one: CatalogueCurrency) => IsoDate | null) =>
    all.flatMap((one) => pick(one) ?? []).sort()
  const row = snapshot.providers.find(({ code }) => code === query.provider)
  const { name, website, country, invented } = row ?? {}
  const { attribution, terms } = sourceTerms(row ?? { code: query.provider })
  const isBank = query.provider === PROVIDER
  const details = PROVIDERS.find(({ code }) => code === query.provider)
  return {
    ...{ key: query.provider.toUpperCase(), name, country_code: isBank ? 'CR' : country },
    ...{ rate_type: 'reference rate', pivot_currency: isBank ? 'CRC' : snapshot.pivot(query.provider) },
    ...{ data_url: website, terms_url: terms },
    start_date: days(({ start_date }) => start_date)[0] ?? null,
    end_date: days(({ end_date }) => end_date).at(-1) ?? null,
    ...{ publish_cadence: 'daily', publishes_missed: isBank ? 0 : details?.benchmark.staleDays },
    currencies: all.map(({ iso_code }) => iso_code),
    ...((!isBank || invented) && { attribution }),
  }
}

/** Every currency of a provider. Its first and last day, up to today, are those of the values of its series. */
function currencies(
  snapshot: RateSnapshot,
  { provider, today }: { provider: string; today: IsoDate },
): CatalogueCurrency[] | Promise<CatalogueCurrency[]> {
  const series = listSeries(snapshot, { provider })
  return withColumns(snapshot, series, (columns) =>
    listCurrencies(snapshot, provider).map((code) => {
      const days: number[] = []
      for (const [at, { base_currency, quote_currency }] of series.entries()) {
        const seriesDays = columns[at]?.days
        if ((base_currency === code || quote_currency === code) && seriesDays?.length)
          days.push(seriesDays[0] ?? 0, seriesDays.at(-1) ?? 0)
      }
      const dates = {
        start_date: day(Math.min(...days)),
        end_date: day(Math.min(Math.max(...days), dayNumber(today))),
      }
      return {
        iso_code: code,
        iso_numeric: null,
        name: currencyName(code),
        symbol: currencySymbol(code),
        ...dates,
      }
    }),
  )
}

function day(number: number): IsoDate | null {
  return Number.isFinite(number) ? isoDate(number) : null
}
