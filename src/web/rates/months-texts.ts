import { computed } from '@preact/signals'
import { language } from '../parts/view.ts'
import { EN_MONTHS } from '../texts/en-months.ts'
import { ES_MONTHS, type MonthsTexts } from '../texts/es-months.ts'

export const monthsTexts = computed<MonthsTexts>(() => (language.value === 'en' ? EN_MONTHS : ES_MONTHS))
