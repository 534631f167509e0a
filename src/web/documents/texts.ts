import { computed } from '@preact/signals'
import { language } from '../parts/view.ts'
import { EN_DOCUMENTS } from '../texts/en-documents.ts'
import { type DocumentsTexts, ES_DOCUMENTS } from '../texts/es-documents.ts'

export const documentsTexts = computed<DocumentsTexts>(() =>
  language.value === 'en' ? EN_DOCUMENTS : ES_DOCUMENTS,
)
