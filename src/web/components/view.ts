// What the whole page knows: what is looked at, in which language and colours.

import { computed, effect, signal } from '@preact/signals'
import { EN } from '../texts/en.ts'
import { ES, type Texts } from '../texts/es.ts'
import { formatsIn, type Language } from '../words/formats.ts'
import { fragmentOf, type View, viewAfter, viewOf } from '../words/fragment.ts'

type Theme = 'light' | 'dark'

const root = document.documentElement
const prefersDark = matchMedia('(prefers-color-scheme: dark)')

export const view = signal<View>(viewOf(location.hash))
export const language = signal<Language>(root.lang === 'en' ? 'en' : 'es')
export const texts = computed<Texts>(() => (language.value === 'en' ? EN : ES))
export const formats = computed(() => formatsIn(language.value))
export const theme = signal<Theme>(currentTheme())

/** Changes what is looked at on this screen. Other screens are links, which the browser's back button undoes. */
export function look(change: Partial<View>): void {
  view.value = { ...view.value, ...change }
  const address = fragmentOf(view.value)
  if (address !== location.hash) history.replaceState(null, '', address)
}

export function chooseLanguage(chosen: Language): void {
  language.value = chosen
  keep('cambista-language', chosen)
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen
  root.dataset.theme = chosen
  keep('cambista-theme', chosen)
}

addEventListener('popstate', () => {
  if (location.hash.startsWith('#login=')) return
  const { screen } = view.value
  view.value = viewAfter(view.value, location.hash)
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

function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value)
  } catch {
    // Then it holds until the page is closed.
  }
}
