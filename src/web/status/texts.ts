import { computed } from '@preact/signals'
import { language } from '../parts/view.ts'
import { EN_STATUS } from '../texts/en-status.ts'
import { ES_STATUS, type StatusTexts } from '../texts/es-status.ts'

export const statusTexts = computed<StatusTexts>(() => (language.value === 'en' ? EN_STATUS : ES_STATUS))
