import { computed } from '@preact/signals'
import { language, texts } from '../../components/view.ts'
import type { CLOSES } from '../../i18n/closes.ts'
import { SOURCES } from '../../i18n/source-texts.ts'
import { type InLanguage, inLanguage } from '../../i18n/table-texts.ts'
import type { Language } from '../../model/formats.ts'
import type { PeriodKind } from '../../model/rates/months.ts'

export const sourceTexts = computed(() => ({
  ...inLanguage(SOURCES, language.value),
  sides: texts.value.sides,
}))

const ROMAN = ['I', 'II', 'III', 'IV']

/** Name of a period inside its year; of a year its number. */
export function periodName(
  kind: PeriodKind,
  first: string,
  words: InLanguage<typeof CLOSES>,
  monthName: (month: string) => string,
): string {
  if (kind === 'year') return first.slice(0, 4)
  if (kind === 'month') return monthName(first.slice(0, 7))
  const index = Math.floor((Number(first.slice(5, 7)) - 1) / 3)
  return words.quarter(ROMAN[index] ?? '', index + 1)
}

/** Name of several units, as `colones` or `dólares estadounidenses`. */
export function currencyUnits(code: string, language: Language): string {
  if (code === 'CRC') return 'colones'
  const locale = language === 'es' ? 'es-CR' : 'en'
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency: code, currencyDisplay: 'name' })
  return format.formatToParts(2).find(({ type }) => type === 'currency')?.value ?? code
}
