import { computed } from '@preact/signals'
import { language } from '../../components/view.ts'
import { INDICATORS } from '../../i18n/indicator-texts.ts'
import { inLanguage } from '../../i18n/table-texts.ts'

export const indicatorTexts = computed(() => inLanguage(INDICATORS, language.value))
