import { computed } from '@preact/signals'
import { language } from '../../components/view.ts'
import { MONTHS } from '../../i18n/months.ts'
import { inLanguage } from '../../i18n/table.ts'

export const monthsTexts = computed(() => inLanguage(MONTHS, language.value))
