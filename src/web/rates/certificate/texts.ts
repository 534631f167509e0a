import { computed } from '@preact/signals'
import { language } from '../../components/view.ts'
import { CERTIFICATE } from '../../i18n/certificate.ts'
import { inLanguage } from '../../i18n/table-texts.ts'

export const certificateTexts = computed(() => inLanguage(CERTIFICATE, language.value))
