import { computed } from '@preact/signals'
import { language } from '../../components/view.ts'
import { DOCUMENT } from '../../i18n/document.ts'
import { inLanguage } from '../../i18n/table-texts.ts'

export const documentTexts = computed(() => inLanguage(DOCUMENT, language.value))
