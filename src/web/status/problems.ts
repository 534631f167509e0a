// Reasons and failures in words, from their codes (page2.md 14). An unknown code is another cause.

import type { Reason, RunFailure } from '../api/responses.ts'
import type { STATUS } from '../i18n/status.ts'
import type { InLanguage } from '../i18n/table-texts.ts'

export type StatusTexts = InLanguage<typeof STATUS>

/** Sentences, and whether the text of the server has a cause that they lack. */
export type ProblemTexts = { sentences: readonly string[]; isIncomplete: boolean }

type ProblemFormat = {
  words: StatusTexts
  /** Lists items with the last one after a conjunction. */
  list: (items: readonly string[]) => string
  /** Writes a count in digits. */
  formatCount: (count: number) => string
}

type FailureCode = keyof StatusTexts['failures']

const PARITIES = '520'

/** Writes failures of one cause as one sentence, with the indicators and tables that they concern. */
export function failureProblems(failures: readonly RunFailure[], wording: ProblemFormat): ProblemTexts {
  const { words, list, formatCount } = wording
  const causes = Map.groupBy(failures, ({ code, host, status }) => JSON.stringify([code, host, status]))
  let isIncomplete = false
  const sentences = [...causes.values()].map((group) => {
    const [first] = group as [RunFailure, ...RunFailure[]]
    const write = Object.hasOwn(words.failures, first.code)
      ? words.failures[first.code as FailureCode]
      : undefined
    if (!write) isIncomplete = true
    const count = group.reduce((sum, one) => sum + (one.count ?? 0), 0)
    const cause = write?.({ ...first, count, figure: formatCount(count) }) ?? words.otherCause
    const subjects = subjectTexts(new Set(group.map(({ of }) => of)), words, list)
    return `${[cause, list(subjects)].filter((text) => text !== '').join(': ')}.`
  })
  return { sentences: [...new Set(sentences)], isIncomplete }
}

/** Codes of the provider are no subject: each sentence has its name. */
function subjectTexts(
  subjects: ReadonlySet<string>,
  words: StatusTexts,
  list: ProblemFormat['list'],
): string[] {
  const codes = [...subjects].filter((code) => /^\d+$/.test(code))
  const indicators = codes.filter((code) => code !== PARITIES)
  return [
    ...(indicators.length > 0 ? [words.indicators(indicators.length, list(indicators))] : []),
    ...(codes.includes(PARITIES) ? [words.parities(PARITIES)] : []),
  ]
}

/** @param formatDay writes a day @param sides names of the sides in a sentence */
export function reasonProblems(
  reasons: readonly Reason[],
  words: StatusTexts,
  formatDay: (day: string) => string,
  sides: Readonly<Record<string, string>>,
): ProblemTexts {
  let isIncomplete = false
  const sentences = reasons.map(({ code, rate_type = 'venta', since = '', series_id = 0, percent = 0 }) => {
    const side = (sides[rate_type] ?? rate_type).toLowerCase()
    const { reasons } = words
    if (code === 'stale_side') return reasons.stale_side(side, formatDay(since))
    if (code === 'no_value') return reasons.no_value(side)
    if (code === 'history_loading') return reasons.history_loading(percent)
    if (code === 'damaged') return reasons.damaged(series_id, formatDay(since))
    if (code === 'last_run_failed') return reasons.last_run_failed
    isIncomplete = true
    return words.otherCause
  })
  return { sentences: [...new Set(sentences)].map((text) => `${text}.`), isIncomplete }
}
