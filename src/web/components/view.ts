// State of the whole page: view, language and theme.

import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import { writeStored } from '../api/storage.ts'
import { PAGE } from '../i18n/page.ts'
import { type InLanguage, inLanguage, source, type TextTable } from '../i18n/table-texts.ts'
import { createFormats, type Language } from '../model/formats.ts'
import { applyFragment, encodeFragment, parseFragment, type View } from '../model/fragment.ts'

type Theme = 'light' | 'dark'

const root = document.documentElement
source.isInvented = root.dataset.invented !== undefined // as the server sent the page
const prefersDark = matchMedia('(prefers-color-scheme: dark)')

export const view = signal<View>(parseFragment(location.hash))
export const language = signal<Language>(root.lang === 'en' ? 'en' : 'es')
export const texts = computed(() => inLanguage(PAGE, language.value))
export const formats = computed(() => createFormats(language.value))
export const theme = signal<Theme>(currentTheme())

const tables = new Map<TextTable, ReadonlySignal>()

/** Texts of a table in the language of the page. */
export function pageTexts<T extends TextTable>(table: T): InLanguage<T> {
  const pageTable = tables.get(table) ?? computed(() => inLanguage(table, language.value))
  tables.set(table, pageTable)
  return pageTable.value as InLanguage<T>
}

/** Changes the parameters of the open screen without a history entry. Links between screens make entries. */
export function setView(change: Partial<View>): void {
  view.value = { ...view.value, ...change }
  const fragment = encodeFragment(view.value)
  if (fragment !== location.hash) history.replaceState(history.state, '', fragment)
}

export function chooseLanguage(next: Language): void {
  language.value = next
  writeStored('cambista-language', next)
}

export function chooseTheme(next: Theme): void {
  theme.value = next
  root.dataset.theme = next
  writeStored('cambista-theme', next)
}

addEventListener('popstate', () => {
  if (location.hash.startsWith('#login=')) return
  const { screen } = view.value
  view.value = applyFragment(view.value, location.hash)
  if (view.value.screen !== screen) scrollTo(0, 0)
})
prefersDark.addEventListener('change', () => {
  theme.value = currentTheme()
})
effect(() => {
  root.lang = language.value
  document.title = `${texts.value.screens[view.value.screen]} · cambista`
})

function currentTheme(): Theme {
  const { theme: chosen } = root.dataset
  if (chosen === 'light' || chosen === 'dark') return chosen
  return prefersDark.matches ? 'dark' : 'light'
}
