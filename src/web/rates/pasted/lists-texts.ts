import { computed } from '@preact/signals'
import { language } from '../../components/view.ts'
import { LISTS } from '../../i18n/lists.ts'
import { inLanguage } from '../../i18n/table.ts'

export const listsTexts = computed(() => inLanguage(LISTS, language.value))
