import { computed } from '@preact/signals'
import { language } from '../components/view.ts'
import { DOCUMENTS } from '../i18n/documents.ts'
import { inLanguage } from '../i18n/table-texts.ts'

export const documentsTexts = computed(() => inLanguage(DOCUMENTS, language.value))
