import { render } from 'preact'
import { rename, source } from './i18n/table-texts.ts'
import { Page } from './page.tsx'

// A module that waits for a part of itself would wait forever, so this is no `await`.
if (source.isInvented) import('./i18n/invented-source.ts').then(({ renameSource }) => start(renameSource))
else start()

function start(renaming?: typeof rename.value): void {
  rename.value = renaming
  const root = document.getElementById('app')
  if (root) render(<Page />, root)
}
