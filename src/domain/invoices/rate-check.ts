// Compares the exchange rate of an invoice with the published venta of its day. Nothing is stored: the rates of the
// moment of the reading answer, so a correction changes it. How far off is lawful is not decided here.

import type { Provider } from '../../providers/provider.ts'
import { AppError } from '../../runtime/errors.ts'
import type { StoredInvoice } from '../../store/documents/invoices.ts'
import { addDays, type Clock, currentDay, type IsoDate, isIsoDate } from '../../values/dates.ts'
import {
  applyRounding,
  canonicalDecimal,
  decimalDifference,
  ROUNDING_MODES,
  toPercent,
} from '../../values/decimal.ts'
import { decimalPlaces } from '../../values/fraction.ts'
import {
  type ConversionResult,
  convertAmount,
  loadedConverter,
  loadRouteColumns,
} from '../rates/conversions.ts'
import type { RateCache, RateSnapshot } from '../rates/rate-cache.ts'

const LEAST_DECIMALS = 2
const PERCENT_DECIMALS = 4
const EARLIER_DAYS = 7
const MODES = ROUNDING_MODES.filter((mode) => mode !== 'down')

/** The published rates, and the provider whose benchmark is the dollar in colones. */
export type InvoiceRates = {
  cache: Pick<RateCache, 'read'>
  clock: Clock
  provider: Pick<Provider, 'code' | 'benchmark'>
}

/**
 * The published venta beside the rate of an invoice. `difference`: of the invoice to it; `percent` of it. `matches`:
 * the published value that the invoice has; null: none of these. Without a published value, the reason.
 */
export type RateCheck =
  | {
      published: string
      rate_date: IsoDate
      via?: string
      difference: string
      percent: string
      matches: 'venta' | 'compra' | 'previous_venta' | null
      rounded_to?: number
    }
  | { published: null; reason: string }

type RatedInvoice = Pick<StoredInvoice, 'document_id' | 'date' | 'currency' | 'exchange_rate'>

/** Published values of a day. `compra` and `previousVenta`: of the dollar alone. */
type PublishedDay =
  | { venta: ConversionResult; compra: string | undefined; previousVenta: string | undefined }
  | { reason: string }

/** Compares the rates of invoices in another currency than colones, by document. */
export async function checkRates(
  { cache, clock, provider }: InvoiceRates,
  invoices: readonly RatedInvoice[],
): Promise<Map<number, RateCheck>> {
  const { base: dollar, quote: colon } = provider.benchmark
  const rated = invoices.flatMap(({ document_id, date, currency, exchange_rate: rate }) =>
    currency === null || currency === colon || rate === null ? [] : { document_id, date, currency, rate },
  )
  if (rated.length === 0) return new Map()
  const today = currentDay(clock)
  return await cache.read(async (present) => {
    const currencies = new Set(rated.map(({ currency }) => currency))
    const sides = (['venta', 'compra'] as const).flatMap((type) =>
      Array.from(currencies, (from) => ({ provider: provider.code, from, to: colon, type })),
    )
    const snapshot = await loadRouteColumns(present, sides)
    const days = new Map<string, PublishedDay>() // most invoices of a page share a few days
    return new Map(
      rated.map(({ document_id, date, currency, rate }) => {
        const published = days.getOrInsertComputed(`${currency} ${date}`, () =>
          findPublished(snapshot, { provider: provider.code, dollar, colon, currency, date, today }),
        )
        return [document_id, compareRate(rate, published)]
      }),
    )
  })
}

/**
 * Converts one unit of the currency of an invoice at the venta of a day. For an invoice in colones it is a dollar.
 * @throws AppError `not-found`: no route or value, or days that were not synchronized; `invalid`: a day after tomorrow
 */
export async function invoiceDayRate(
  { cache, clock, provider }: InvoiceRates,
  { date, currency }: { date: IsoDate; currency: string | null },
): Promise<{ from: string; to: string; conversion: ConversionResult }> {
  const { base: dollar, quote: to } = provider.benchmark
  const from = currency === null || currency === to ? dollar : currency
  const wrongDay = describeWrongDay(date, currentDay(clock))
  if (wrongDay !== undefined) throw new AppError('invalid', wrongDay)
  const query = { provider: provider.code, from, to, type: 'venta', amount: '1', day: date } as const
  return { from, to, conversion: await cache.read((snapshot) => convertAmount(snapshot, query)) }
}

function findPublished(
  snapshot: RateSnapshot,
  query: {
    provider: string
    dollar: string
    colon: string
    currency: string
    date: string | null
    today: IsoDate
  },
): PublishedDay {
  const { provider, dollar, colon, currency, date, today } = query
  const wrongDay = describeWrongDay(date, today)
  if (date === null || wrongDay !== undefined) return { reason: wrongDay ?? '' }
  const readSide = (type: 'venta' | 'compra', day: IsoDate) =>
    valueOrReason(() => loadedConverter(snapshot, { provider, from: currency, to: colon, type })('1', day))
  const venta = readSide('venta', date)
  if ('reason' in venta || currency !== dollar) {
    return 'reason' in venta ? venta : { venta, compra: undefined, previousVenta: undefined }
  }
  const compra = readSide('compra', venta.rateDate)
  const isOfDay = 'rate' in compra && compra.rateDate === venta.rateDate // days are never mixed
  return {
    venta,
    compra: isOfDay ? compra.rate : undefined,
    previousVenta: findPrevious(venta.rate, date, (day) => readSide('venta', day)),
  }
}

/** Finds the last other value of the seven days before a day; undefined: none, or it is beyond a hole. */
function findPrevious(
  rate: string,
  date: IsoDate,
  readVenta: (day: IsoDate) => ConversionResult | { reason: string },
): string | undefined {
  for (let back = 1; back <= EARLIER_DAYS; back += 1) {
    const earlier = readVenta(addDays(date, -back))
    if ('reason' in earlier) return undefined
    if (earlier.rate !== rate) return earlier.rate
  }
  return undefined
}

function valueOrReason(find: () => ConversionResult): ConversionResult | { reason: string } {
  try {
    return find()
  } catch (error) {
    if (error instanceof AppError && error.code === 'not-found') return { reason: error.message }
    throw error
  }
}

/** Describes why no rate may answer for a day; undefined: one may. A mistyped year must not have today's rate. */
function describeWrongDay(date: string | null, today: IsoDate): string | undefined {
  if (date === null) return 'the invoice has no date'
  if (!isIsoDate(date)) return 'its date is no day of the calendar'
  return date > addDays(today, 1) ? `its date ${date} is in the future: today is ${today}` : undefined
}

function compareRate(rate: string, published: PublishedDay): RateCheck {
  if ('reason' in published) return { published: null, reason: published.reason }
  const { venta, compra, previousVenta } = published
  const [, ...further] = venta.path
  const difference = decimalDifference(rate, venta.rate)
  const isValue = (value: string | undefined) => value !== undefined && hasSameRate(rate, value)
  return {
    published: venta.rate,
    rate_date: venta.rateDate,
    ...(further.length > 1 && { via: further[0] }),
    difference,
    percent: toPercent(difference, venta.rate, PERCENT_DECIMALS),
    matches: isValue(venta.rate)
      ? 'venta'
      : isValue(compra)
        ? 'compra'
        : isValue(previousVenta)
          ? 'previous_venta'
          : null,
    ...(venta.roundedTo !== undefined && { rounded_to: venta.roundedTo }),
  }
}

/** Returns true for the value, and for the value rounded to the decimals of the rate, at least two. */
function hasSameRate(rate: string, value: string): boolean {
  const decimals = Math.max(LEAST_DECIMALS, decimalPlaces(rate))
  return (
    rate === value ||
    MODES.some((mode) => canonicalDecimal(applyRounding(value, { decimals, mode })) === rate)
  )
}
