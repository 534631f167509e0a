// Runs before anything is painted: the theme that was chosen, and the language of the page. A one-time code leaves the
// address before any other file is asked for; the page itself takes it from here.

const root = document.documentElement
try {
  const theme = localStorage.getItem('cambista-theme')
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme
  const chosen = localStorage.getItem('cambista-language')
  root.lang = (chosen ?? navigator.language).startsWith('en') ? 'en' : 'es'
} catch {
  root.lang = 'es' // storage may be forbidden; the page says so where it needs it
}

const [, code] = /^#login=([\w-]{1,100})$/.exec(location.hash) ?? []
if (code !== undefined) {
  history.replaceState(null, '', location.pathname)
  Object.assign(window, { cambistaLoginCode: code })
}
