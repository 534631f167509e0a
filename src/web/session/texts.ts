import { computed } from '@preact/signals'
import { language } from '../components/view.ts'
import { DOORS } from '../i18n/doors.ts'
import { inLanguage } from '../i18n/table-texts.ts'

export const doorTexts = computed(() => inLanguage(DOORS, language.value))
