import { computed } from '@preact/signals'
import { language } from '../../components/view.ts'
import { CURRENCIES } from '../../i18n/currencies.ts'
import { inLanguage } from '../../i18n/table-texts.ts'

export const currencyTexts = computed(() => inLanguage(CURRENCIES, language.value))
