@echo off
setlocal
rem %~dp0 is wrong in a file that was called by its name in quotes, except below a label.
call :find_folder
"%folder%lib\node.exe" "%folder%lib\bin\PROGRAM.js" %*
exit /b %errorlevel%
:find_folder
set folder=%~dp0
exit /b
