// interrupt COMMAND GO OUT ERR: runs COMMAND in a console of its own, presses Ctrl-C there once the file GO exists, and
// exits with the status of COMMAND.
#include <windows.h>

static HANDLE inherited(const wchar_t *path, DWORD access, DWORD mode) {
  SECURITY_ATTRIBUTES attributes = {sizeof attributes, NULL, TRUE};
  return CreateFileW(path, access, 7, &attributes, mode, 0, NULL);
}

int wmain(int count, wchar_t **args) {
  STARTUPINFOW start = {sizeof start};
  PROCESS_INFORMATION process;
  DWORD status = 99;
  FreeConsole();
  if (count != 5 || !AllocConsole()) return 98;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdInput = inherited(L"NUL", GENERIC_READ, OPEN_EXISTING);
  start.hStdOutput = inherited(args[3], GENERIC_WRITE, CREATE_ALWAYS);
  start.hStdError = inherited(args[4], GENERIC_WRITE, CREATE_ALWAYS);
  if (!CreateProcessW(NULL, args[1], NULL, NULL, TRUE, 0, NULL, NULL, &start, &process)) return 97;
  SetConsoleCtrlHandler(NULL, TRUE); // Not this program.
  while (GetFileAttributesW(args[2]) == INVALID_FILE_ATTRIBUTES)
    if (WaitForSingleObject(process.hProcess, 20) != WAIT_TIMEOUT) return 96;
  if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0)) return 95;
  WaitForSingleObject(process.hProcess, 60000);
  GetExitCodeProcess(process.hProcess, &status);
  return (int)status;
}
