import { render } from 'preact'
import { Page } from './page.tsx'

const root = document.getElementById('app')
if (root) render(<Page />, root)
