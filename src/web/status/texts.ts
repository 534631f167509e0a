import { computed } from '@preact/signals'
import { language } from '../components/view.ts'
import { STATUS } from '../i18n/status.ts'
import { inLanguage } from '../i18n/table-texts.ts'

export const statusTexts = computed(() => inLanguage(STATUS, language.value))
