// hold FILE r|w SHARE READY: opens FILE as another program does, creates READY, and keeps FILE open until READY is gone.
// SHARE is what others may do meanwhile: 1 read, 2 write, 4 delete and rename. Excel allows 1 for a sheet, 0 for some.
#include <windows.h>

int wmain(int count, wchar_t **args) {
  DWORD access = args[2][0] == 'w' ? GENERIC_READ | GENERIC_WRITE : GENERIC_READ;
  HANDLE file = CreateFileW(args[1], access, (DWORD)_wtoi(args[3]), NULL, OPEN_EXISTING, 0, NULL);
  if (count != 5 || file == INVALID_HANDLE_VALUE) return 1;
  CloseHandle(CreateFileW(args[4], GENERIC_WRITE, 7, NULL, CREATE_ALWAYS, 0, NULL));
  while (GetFileAttributesW(args[4]) != INVALID_FILE_ATTRIBUTES) Sleep(20);
  return 0;
}
