/** Whether a text is a URL without a user, a password or a fragment: nothing in it that must not be written down. */
export function isBareUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, hash } = new URL(text);
  return username === '' && password === '' && hash === '';
}
