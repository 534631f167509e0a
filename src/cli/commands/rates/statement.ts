// Verifies the certificate of a link without a server (decisions#statements). Makes its statement from the database, as
// the endpoint does, and compares the digest. Verdicts are in the language of the help.

import { type ChangeLogLimits, isChangeLogLimits, openPastRates } from '../../../domain/rates/history/past.ts'
import { openRateCache, type RateSnapshot } from '../../../domain/rates/rate-cache.ts'
import {
  type LaterAnswer,
  makeStatement,
  type StatementAnswer,
  type ValueChange,
} from '../../../domain/rates/statement/statement.ts'
import { parseStatementLink, type StatementLink } from '../../../domain/rates/statement/statement-link.ts'
import { DEFAULT_PROVIDER } from '../../../providers/list.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { ChangeKind } from '../../../store/rates/stored-at.ts'
import { addDays, currentDay, type IsoDate, TIME_ZONE } from '../../../values/dates.ts'
import { command, printResult } from '../../command.ts'
import { type Language, messageLanguage } from '../../help/locale.ts'
import { STORAGE } from '../../options/storage.ts'

const TEXTS = {
  en: {
    match: 'Matches: this server gives the same answer today.',
    mismatch: (link: string, own: string) =>
      `Does not match: the digest of the link is ${link}, that of this answer is ${own}. Compare each line with the paper:`,
    before: (from: string) => `The record of this server begins on ${from}.`,
    gap: (from: string, to: string) =>
      `This server cannot verify it: its record has a gap between ${from} and ${to}.`,
    changes: {
      correction: (values: string) => `The BCCR corrected ${values} later.`,
      refined: (values: string) => `This server now has more decimals of ${values}.`,
      new: (values: string) => `This server received ${values} later.`,
      discarded: (values: string) => `This server discarded ${values} later.`,
    },
    today: (result: string) => `Today the result would be ${result}.`,
    noAnswer: (reason: string) => `Today this server has no answer. “${reason}”`,
    of: 'of',
    and: 'and',
  },
  es: {
    match: 'Coincide: este servidor da hoy la misma respuesta.',
    mismatch: (link: string, own: string) =>
      `No coincide: la huella del enlace es ${link}; la de esta respuesta es ${own}. Compare cada línea con el papel:`,
    before: (from: string) => `El registro de este servidor comienza el ${from}.`,
    gap: (from: string, to: string) =>
      `Este servidor no puede comprobarla: entre ${from} y ${to} su registro tiene un vacío.`,
    changes: {
      correction: (values: string) => `El BCCR corrigió después ${values}.`,
      refined: (values: string) => `Este servidor tiene ahora más decimales de ${values}.`,
      new: (values: string) => `Este servidor recibió después ${values}.`,
      discarded: (values: string) => `Este servidor descartó después ${values}.`,
    },
    today: (result: string) => `Hoy el resultado sería ${result}.`,
    noAnswer: (reason: string) => `Hoy este servidor no da una respuesta. «${reason}»`,
    of: 'del',
    and: 'y',
  },
}
type VerdictTexts = (typeof TEXTS)[Language]

const INSTANT = new Intl.DateTimeFormat('en-GB', {
  // dd/mm/yyyy in both languages
  ...{ timeZone: TIME_ZONE, dateStyle: 'short', timeStyle: 'medium' },
})

export const statementVerify = command({
  name: 'statement verify',
  positionals: ['LINK'],
  options: [...STORAGE, 'json'],
  run({ options, positionals: [word = ''], terminal, withDatabase }) {
    const link = parseStatementLink(word)
    if (!link) {
      throw new AppError(
        'usage',
        'LINK must be the whole address of a certificate, in quotes: https://…/#rates/certificate?amount=…&sha256=…',
      )
    }
    const texts = TEXTS[messageLanguage(terminal.env)]
    return withDatabase({ mustExist: true }, async (db, engine) => {
      const cache = await openRateCache(db, terminal.providers)
      checkTimes(link, engine.clock(), cache.snapshot())
      const past = openPastRates(engine.longReads)
      const query = { ...link.query, provider: DEFAULT_PROVIDER.code }
      try {
        const answer = await cache.read((snapshot) => makeStatement({ db, past }, snapshot, query, link.asOf))
        const isMatch = answer.sha256 === link.sha256
        printResult(terminal, options, answerOut(answer, isMatch), answerLines(answer, link, texts))
        return isMatch ? 0 : 1
      } catch (error) {
        if (!(error instanceof AppError) || !isChangeLogLimits(error.details)) throw error
        const verdict = 'gap' in error.details ? 'gap' : 'before_record'
        printResult(terminal, options, { verdict, ...error.details }, [limitsLine(error.details, texts)])
        return 1
      }
    })
  },
})

/** @throws AppError `usage`: the instant is in the future, or the day after tomorrow, as the endpoint refuses it */
function checkTimes({ asOf, query: { day } }: StatementLink, now: Date, snapshot: RateSnapshot): void {
  const { newestInstant = 0 } = snapshot // may be some milliseconds ahead of the clock
  if (
    day >
    addDays(
      currentDay(() => now),
      1,
    )
  ) {
    throw new AppError('usage', `LINK is of ${day}, which is after tomorrow`)
  }
  if (new Date(asOf) > now && Date.parse(asOf) > newestInstant) {
    throw new AppError('usage', `LINK is as of ${asOf}, which is in the future`)
  }
}

function answerOut({ statement, sha256, asOf, later }: StatementAnswer, isMatch: boolean) {
  const results = later?.conversions?.map(({ result }) => result)
  return {
    verdict: isMatch ? 'match' : 'mismatch',
    ...{ statement, sha256, as_of: asOf },
    now: later && {
      results: results ?? null,
      detail: later.refusal,
      corrections: later.changes.map(({ series, day, was, is, at, kind }) => ({
        pair: `${series.base_currency}/${series.quote_currency}`,
        ...{ rate_type: series.rate_type, rate_date: day, was, is, at, kind },
      })),
    },
  }
}

function answerLines(answer: StatementAnswer, link: StatementLink, texts: VerdictTexts): string[] {
  const { statement, sha256, later } = answer
  const verdict = sha256 === link.sha256 ? texts.match : texts.mismatch(link.sha256, sha256)
  const lines = later ? [verdict, laterLine(later, link, texts)] : [verdict]
  return [...lines, '', ...statement.trimEnd().split('\n')]
}

/** Returns the reasons of the change, and the present result. */
function laterLine(later: LaterAnswer, { query, sign }: StatementLink, texts: VerdictTexts): string {
  const byKind = Object.groupBy(later.changes, ({ kind }) => kind)
  const reasons = Object.entries(texts.changes).flatMap(([kind, sentence]) => {
    const values = byKind[kind as ChangeKind]?.map((change) => valueName(change, texts))
    return values ? sentence(joinTexts(values, texts)) : []
  })
  const results = later.conversions?.map(({ result }) => `${sign}${result} ${query.to}`)
  const today = results ? texts.today(joinTexts(results, texts)) : texts.noAnswer(later.refusal ?? '')
  return [...reasons, today].join(' ')
}

function joinTexts(parts: readonly string[], { and }: VerdictTexts): string {
  return [parts.slice(0, -1).join(', '), parts.at(-1)].filter(Boolean).join(` ${and} `)
}

function limitsLine(limits: ChangeLogLimits, texts: VerdictTexts): string {
  if ('record_from' in limits) return texts.before(formatInstant(limits.record_from))
  return texts.gap(formatInstant(limits.gap.from), formatInstant(limits.gap.to))
}

/** Name of a value, such as `USD/CRC venta of 22/11/2026`. */
function valueName({ series, day }: ValueChange, texts: VerdictTexts): string {
  const { base_currency, quote_currency, rate_type } = series
  const side = rate_type === 'referencia' ? '' : ` ${rate_type}`
  return `${base_currency}/${quote_currency}${side} ${texts.of} ${formatDay(day)}`
}

function formatDay(day: IsoDate): string {
  return day.split('-').reverse().join('/')
}

function formatInstant(instant: string): string {
  return INSTANT.format(new Date(instant))
}
