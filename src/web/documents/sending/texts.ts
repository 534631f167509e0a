import { computed } from '@preact/signals'
import { language } from '../../components/view.ts'
import { SENDING } from '../../i18n/sending.ts'
import { inLanguage } from '../../i18n/table-texts.ts'

export const sendingTexts = computed(() => inLanguage(SENDING, language.value))
