@echo off
goto start
rem Elsewhere %~dp0 is wrong in a file that was called by its name in quotes.
:find_folder
set "folder=%~dp0"
exit /b
:start
setlocal
call :find_folder
"%folder%lib\node.exe" "%folder%lib\bin\PROGRAM.js" %*
