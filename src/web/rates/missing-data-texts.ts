import { computed } from '@preact/signals'
import { language } from '../components/view.ts'
import { MISSING_DATA } from '../i18n/missing-data.ts'
import { inLanguage } from '../i18n/table-texts.ts'

export const missingDataTexts = computed(() => inLanguage(MISSING_DATA, language.value))
