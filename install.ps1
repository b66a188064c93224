# Installs catalogue for you alone: without Node, without an administrator, for Windows 10 and later. Windows PowerShell 5.1 runs it.
param(
  [string]$Version = "",
  [string]$From = "",
  [string]$To = "$env:LOCALAPPDATA\Programs\catalogue",
  [switch]$Help
)

# OWNER is filled in before the first release, as in package.json.
$releases = "https://example.com/OWNER/catalogue/releases"

$usage = @"
usage: install.ps1 [-Version VERSION] [-From PLACE] [-To FOLDER]

Installs catalogue for you, or the newest version of it. Node is not needed.

  -Version VERSION  this version (default: the newest)
  -From PLACE       folder or URL with SHA256SUMS and the archives (default: the releases of the project)
  -To FOLDER        where the program is kept (default: %LOCALAPPDATA%\Programs\catalogue)
  -Help             show this
"@

# An error that is shown as it is: what failed, and on the next line what to do.
function Stop-Install([string]$Failed, [string]$Next) {
  throw [InvalidOperationException]::new("$Failed`n$Next")
}

function Get-ReleaseFile([string]$Place, [string]$Name, [string]$Folder) {
  try {
    if ($Place -match "^https?://") {
      Invoke-WebRequest -UseBasicParsing -Uri "$Place/$Name" -OutFile (Join-Path $Folder $Name)
    } else {
      Copy-Item -LiteralPath (Join-Path $Place $Name) -Destination $Folder
    }
  } catch {
    Stop-Install "cannot get $Name from ${Place}: $($_.Exception.Message)" "Check the address and your network, or use -From FOLDER."
  }
}

function Get-Place {
  if ($From -eq "") {
    if ($Version -eq "") { return "$releases/latest/download" }
    return "$releases/download/v$Version"
  }
  if ($From -match "^https://|^http://(127\.0\.0\.1|localhost)[:/]") { return $From.TrimEnd("/") }
  if ($From -match "^http://") {
    Stop-Install "$From is not encrypted: others could change the program on its way" "Use https://, or download the files and use -From FOLDER."
  }
  if (-not (Test-Path -LiteralPath $From -PathType Container)) {
    Stop-Install "-From is not a folder or a URL" "Choose the folder that has SHA256SUMS."
  }
  return (Resolve-Path -LiteralPath $From).ProviderPath
}

# The archive for Windows in SHA256SUMS, and its sum.
function Find-Archive([string]$Place, [string]$Folder) {
  $wanted = if ($Version -eq "") { "[0-9][0-9A-Za-z.+-]*" } else { [regex]::Escape($Version) }
  $lines = @(Get-Content -LiteralPath (Join-Path $Folder "SHA256SUMS")) -match "^[0-9a-f]{64}  catalogue-$wanted-windows-x64\.zip$"
  if (@($lines).Count -ne 1) {
    Stop-Install "SHA256SUMS of $Place does not have one archive for windows-x64" "Choose a version of the releases page with -Version."
  }
  $sum, $name = @($lines)[0] -split "  ", 2
  return @{ Sum = $sum; Name = $name }
}

# Puts the new folder where it belongs, and lets "current" lead to it. The version before stays, as a command of it may be running.
function Set-Current([string]$Unpacked, [string]$Name) {
  $folder = Join-Path $To $Name
  $current = Join-Path $To "current"
  $before = if (Test-Path -LiteralPath $current) { @((Get-Item -LiteralPath $current -Force).Target)[0] } else { "" }
  try {
    if (Test-Path -LiteralPath $folder) { Remove-Item -LiteralPath $folder -Recurse -Force }
    Move-Item -LiteralPath $Unpacked -Destination $folder
  } catch {
    Stop-Install "cannot replace ${folder}: $($_.Exception.Message)" "Close the windows in which catalogue runs, and run this again."
  }
  # Removes the link alone: Remove-Item of Windows PowerShell would ask about the files behind it.
  if (Test-Path -LiteralPath $current) { [IO.Directory]::Delete($current) }
  New-Item -ItemType Junction -Path $current -Target $folder | Out-Null
  # The folder may have others of the user.
  Get-ChildItem -LiteralPath $To -Directory |
    Where-Object { $_.Name -match "^catalogue-[0-9].*-windows-x64$" -and $_.FullName -ne $folder -and $_.FullName -ne $before } |
    Remove-Item -Recurse -Force -ErrorAction SilentlyContinue
  return $current
}

function Install-Catalogue {
  $ErrorActionPreference = "Stop"
  # Its bar makes downloads ten times slower.
  $ProgressPreference = "SilentlyContinue"
  [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
  if (-not [Environment]::Is64BitOperatingSystem) {
    Stop-Install "no portable program for Windows with 32 bits" "Install Node 20.19 or newer, then the package with npm."
  }
  # As tags are named.
  $Version = $Version -replace "^v", ""
  # .NET and PowerShell have two ideas of the current folder.
  $To = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($To)
  $place = Get-Place
  $new = Join-Path $To ".new-$([Guid]::NewGuid().ToString('N').Substring(0, 8))"
  New-Item -ItemType Directory -Path $new -Force | Out-Null
  try {
    Get-ReleaseFile $place "SHA256SUMS" $new
    $archive = Find-Archive $place $new
    Write-Host "Getting $($archive.Name) from $place"
    Get-ReleaseFile $place $archive.Name $new
    $path = Join-Path $new $archive.Name
    if ((Get-FileHash -LiteralPath $path -Algorithm SHA256).Hash -ne $archive.Sum) {
      Stop-Install "$($archive.Name) is cut or changed: its SHA-256 is not the one in SHA256SUMS; nothing was installed" "Run this again. If it fails again, report it."
    }
    Add-Type -AssemblyName System.IO.Compression.FileSystem
    [IO.Compression.ZipFile]::ExtractToDirectory($path, $new)
    $name = $archive.Name -replace "\.zip$", ""
    $unpacked = Join-Path $new $name
    $installed = & (Join-Path $unpacked "catalogue.cmd") --version
    if ($LASTEXITCODE -ne 0) {
      Stop-Install "$($archive.Name) does not start here: exit $LASTEXITCODE" "It needs Windows 10 or later. A virus scanner may have stopped it."
    }
    $current = Set-Current $unpacked $name
  } finally {
    Remove-Item -LiteralPath $new -Recurse -Force -ErrorAction SilentlyContinue
  }
  Write-Host "Installed $installed in $(Join-Path $To $name)"
  if ("$env:Path".Split(";") -contains $current) {
    Write-Host "Try it: catalogue products list --mock"
  } else {
    Write-Host "Run this line once, and open another window:"
    # PowerShell and cmd both read it.
    Write-Host "  powershell -Command ""[Environment]::SetEnvironmentVariable('Path', [Environment]::GetEnvironmentVariable('Path', 'User') + ';$($current.Replace("'", "''"))', 'User')"""
  }
}

if ($Help) {
  Write-Host $usage
} else {
  try {
    Install-Catalogue
  } catch {
    [Console]::Error.WriteLine("error: $($_.Exception.Message)")
    # A script from a pipe (irm URL | iex) would close the window.
    if ($PSCommandPath) { exit 1 }
  }
}
