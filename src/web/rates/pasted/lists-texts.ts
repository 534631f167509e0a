import { computed } from '@preact/signals'
import { formats, pageTexts, texts } from '../../components/view.ts'
import { LISTS } from '../../i18n/lists.ts'
import { PAGE, type Texts } from '../../i18n/page.ts'
import { type InLanguage, inLanguage } from '../../i18n/table-texts.ts'
import { createFormats, type Formats, type Language } from '../../model/formats.ts'

/** Texts and formats of one language. */
export type Wording = { lists: InLanguage<typeof LISTS>; page: Texts; formats: Formats }

export const wording = computed<Wording>(() => ({
  lists: pageTexts(LISTS),
  page: texts.value,
  formats: formats.value,
}))

/** Returns the wording of a file: the CSV for Excel in Spanish is Spanish on each page. */
export function createWording(fileLanguage: Language): Wording {
  return {
    lists: inLanguage(LISTS, fileLanguage),
    page: inLanguage(PAGE, fileLanguage),
    formats: createFormats(fileLanguage),
  }
}
